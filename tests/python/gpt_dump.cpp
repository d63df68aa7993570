// SPDX-License-Identifier: Apache-2.0
// gpt_dump SPEC CHECKPOINT OUT: the trainer's model and optimizer on made-up batches, in float32 on
// the CPU: logits, loss and gradients of the first, then train.steps steps; all into one
// safetensors file for gpt_reference.py.
#include "tests/python/dump.h"
#include "trainer/train/workloads/gpt/gpt.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/randint.h>

#include <cstdio>

namespace {

using namespace rm::test;

constexpr int64_t kVocabSize = 256; // of the tokenizer "bytes"

/// Alone, together, and where each keeps one token only.
constexpr rm::Sampling kSamplings[] = {{1, 0, 1},      {0.7, 0, 1},     {1, 5, 1}, {1, 0, 0.8},
                                       {0.6, 20, 0.9}, {1.5, 500, 0.5}, {1, 1, 1}, {1, 0, 0}};

/// Of the next token at each place of a text, under the settings' names.
void addProbabilities(Named& dump, const at::Tensor& logits) {
    for (const rm::Sampling& sampling : kSamplings) {
        char name[64];
        std::snprintf(name, sizeof name, "probabilities %g %lld %g", sampling.temperature,
                      static_cast<long long>(sampling.topK), sampling.topP);
        dump.emplace_back(name, rm::tokenProbabilities(logits.flatten(0, 1), sampling));
    }
}

Named compute(rm::Gpt& model, const rm::RunSpec& spec) {
    const std::vector<int64_t> shape{spec.train.steps, spec.train.batchSize,
                                     spec.model.context + 1};
    const at::Tensor text =
        at::randint(0, kVocabSize, shape, at::make_generator<at::CPUGeneratorImpl>(7), at::kLong);
    const at::Tensor ids = snapshot(text.narrow(2, 0, spec.model.context));
    const at::Tensor targets = snapshot(text.narrow(2, 1, spec.model.context));
    Named dump{{"ids", ids}, {"targets", targets}};

    const at::Tensor logits = snapshot(model.logits(ids[0], true));
    dump.emplace_back("logits", logits);
    addProbabilities(dump, logits);
    model.loss({{ids[0], targets[0]}, 0}, true).backward();
    addGradients(dump, model);
    addFlops(dump, model, {{ids[0], targets[0]}, 0});

    dump.emplace_back("losses", trainingLosses(model, spec, ids, targets));
    for (const rm::Parameter& parameter : model.parameters())
        dump.emplace_back("after." + parameter.name, snapshot(parameter.value));
    return dump;
}

rm::Result<void> run(const std::string& specFile, const std::string& checkpoint,
                     const std::string& out) {
    const auto spec = rm::loadRunSpec(specFile);
    if (!spec)
        return tl::unexpected(spec.error());
    rm::Gpt model(spec->model, kVocabSize);
    return loadWeights(model, checkpoint).and_then([&] {
        return save(out, compute(model, *spec));
    });
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: gpt_dump SPEC CHECKPOINT OUT\n", stderr);
        return 2;
    }
    return ended(run(argv[1], argv[2], argv[3]));
}
