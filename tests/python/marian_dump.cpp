// SPDX-License-Identifier: Apache-2.0
// marian_dump CHECKPOINT TEXTS OUT: the trainer's translation model of CHECKPOINT, in float32 on
// the CPU and without dropout, on the pairs of TEXTS (source TAB target, one a line): token ids,
// logits, losses, gradients, and what greedy and beam search find; all into one safetensors file
// for marian_reference.py, with the greedy translations as texts in its metadata.
#include "shared/io/file.h"
#include "tests/python/dump.h"
#include "trainer/train/workloads/translation/pairs/pair_batches.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"
#include "trainer/train/workloads/translation/translation_search.h"

#include <ATen/Parallel.h>
#include <ATen/ops/tensor.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>

namespace {

using namespace rm::test;

constexpr double kSmoothing = 0.1;
constexpr rm::SearchSettings kGreedy{24, 1, 1};
constexpr rm::SearchSettings kBeams{24, 4, 0.6};

std::vector<rm::Pair> readTexts(const std::string& path) {
    std::vector<rm::Pair> texts;
    std::ifstream lines(path);
    for (std::string line; std::getline(lines, line);) {
        const size_t tab = line.find('\t');
        texts.push_back({line.substr(0, tab), line.substr(tab + 1)});
    }
    return texts;
}

template <class Id>
void addIds(Named& dump, const std::string& name, const std::vector<Id>& ids) {
    dump.emplace_back(name + "." + std::to_string(dump.size()),
                      at::tensor(std::vector<int64_t>(ids.begin(), ids.end()), at::kLong));
}

void addNumbers(Named& dump, rm::Translation& model, const rm::Batch& batch) {
    const at::Tensor memory = model.encode(batch.tensors[0], batch.tensors[1], false);
    dump.emplace_back("logits",
                      snapshot(model.logits(memory, batch.tensors[1], batch.tensors[2], false)));
    dump.emplace_back("loss", snapshot(model.loss(batch, false)));
    const at::Tensor smoothed = model.loss(batch, true);
    dump.emplace_back("smoothed", snapshot(smoothed));
    clearGradients(model);
    smoothed.backward();
    addGradients(dump, model);
    addFlops(dump, model, batch);
}

/// Returns the texts that greedy search found, as JSON.
std::string addFound(Named& dump, const rm::Translation& model, const rm::Batch& batch,
                     const rm::PairTokenizer& tokenizer) {
    nlohmann::json texts = nlohmann::json::array();
    for (const auto& ids : translate(model, batch.tensors[0], batch.tensors[1], kGreedy)) {
        addIds(dump, "greedy", ids);
        texts.push_back(tokenizer.decodeTarget(ids));
    }
    for (const auto& ids : translate(model, batch.tensors[0], batch.tensors[1], kBeams))
        addIds(dump, "beams", ids);
    return texts.dump();
}

rm::Result<void> compute(rm::Translation& model, const rm::PairTokenizer& tokenizer,
                         const std::vector<rm::Pair>& texts, const std::string& out) {
    Named dump;
    std::vector<rm::EncodedPair> pairs;
    for (const auto& [source, target] : texts) {
        const auto from = tokenizer.encodeSource(source);
        const auto to = tokenizer.encodeTarget(target);
        addIds(dump, "source", from);
        addIds(dump, "target", to);
        pairs.push_back({{from.begin(), from.end()}, {to.begin(), to.end()}});
    }
    const rm::Batch batch = rm::makePairBatch(pairs);
    addNumbers(dump, model, batch);
    const std::string found = addFound(dump, model, batch, tokenizer);
    return save(out, dump, {{"greedy", found}});
}

rm::Result<void> run(const std::string& checkpoint, const std::string& texts,
                     const std::string& out) {
    const auto source = rm::readFile(checkpoint + "/source.spm");
    const auto target = rm::readFile(checkpoint + "/target.spm");
    if (!source || !target)
        return tl::unexpected((source ? target : source).error());
    const auto tokenizer = rm::PairTokenizer::load(*source, *target);
    auto spec = rm::loadRunSpec(checkpoint + "/spec.toml");
    if (!tokenizer || !spec)
        return tl::unexpected((spec ? tokenizer.error() : spec.error()));
    spec->model.dropout = 0;
    spec->train.labelSmoothing = kSmoothing;
    rm::Translation model(*spec, {tokenizer->sourceVocab(), tokenizer->targetVocab()});
    return loadWeights(model, checkpoint).and_then([&] {
        return compute(model, *tokenizer, readTexts(texts), out);
    });
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: marian_dump CHECKPOINT TEXTS OUT\n", stderr);
        return 2;
    }
    at::set_num_threads(1); // as the reference: sums are taken in the same order
    return ended(run(argv[1], argv[2], argv[3]));
}
