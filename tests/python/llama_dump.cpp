// SPDX-License-Identifier: Apache-2.0
// llama_dump SPEC FOLDER OUT SAVED: a Llama of Hugging Face in FOLDER as the trainer has it, in
// float32 on the CPU, on made-up batches: logits, loss and gradients of the first, greedy
// generation, then train.steps steps; all into the safetensors file OUT for llama_reference.py. The
// model after them goes into the folder SAVED.
#include "shared/io/file.h"
#include "tests/python/dump.h"
#include "trainer/train/workloads/foreign_config.h"
#include "trainer/train/workloads/foreign_weights.h"
#include "trainer/train/workloads/llama/llama.h"
#include "trainer/train/workloads/registry.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>

#include <cstdio>

namespace {

using namespace rm::test;

constexpr int64_t kGenerated = 32;
constexpr int64_t kPrompt = 5;

/// By the way of an import: through the spec that the config.json stands for.
rm::Result<std::unique_ptr<rm::Llama>> load(const std::string& folder) {
    const auto config = rm::readFile(folder + "/config.json");
    if (!config)
        return tl::unexpected(config.error());
    const auto spec = rm::specOfConfig(*config, {}, folder);
    if (!spec)
        return tl::unexpected(spec.error());
    const rm::Workload& workload = rm::workloadOf(*spec);
    std::unique_ptr<rm::Model> model;
    return rm::readWeights(folder)
        .and_then([&](rm::Weights weights) {
            return workload.withOurNames(*spec, std::move(weights), folder);
        })
        .and_then([&](const rm::Weights& weights) -> rm::Result<void> {
            auto made = workload.modelFor(*spec, weights, *config, folder);
            if (!made)
                return tl::unexpected(made.error());
            model = std::move(*made);
            return rm::fillModel(*model, weights, folder);
        })
        .map([&] { return std::unique_ptr<rm::Llama>(dynamic_cast<rm::Llama*>(model.release())); });
}

rm::Result<void> saveModel(const rm::Llama& model, const std::string& folder) {
    rm::Weights weights;
    for (const rm::Parameter& parameter : model.parameters())
        weights.push_back({parameter.name, parameter.value});
    return rm::makeFolders(folder)
        .and_then([&] { return rm::writeWeights(folder + "/model.safetensors", weights); })
        .and_then(
            [&] { return rm::writeFileAtomically(folder + "/config.json", model.configJson()); })
        .and_then([&] {
            return rm::writeFileAtomically(folder + "/generation_config.json",
                                           model.generationJson(kGenerated, {}));
        });
}

at::Tensor greedy(rm::Llama& model, const at::Tensor& text) {
    const at::Tensor first = text.narrow(0, 0, kPrompt);
    const std::vector<int32_t> prompt(first.const_data_ptr<int64_t>(),
                                      first.const_data_ptr<int64_t>() + kPrompt);
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(1);
    const auto made = model.generate(prompt, kGenerated, {.temperature = 0}, generator);
    return at::tensor(std::vector<int64_t>(made.begin(), made.end()), at::kLong);
}

Named compute(rm::Llama& model, const rm::RunSpec& spec, int64_t vocab) {
    const std::vector<int64_t> shape{spec.train.steps, spec.train.batchSize,
                                     spec.model.context + 1};
    const at::Tensor text =
        at::randint(0, vocab, shape, at::make_generator<at::CPUGeneratorImpl>(7), at::kLong);
    const at::Tensor ids = snapshot(text.narrow(2, 0, spec.model.context));
    const at::Tensor targets = snapshot(text.narrow(2, 1, spec.model.context));
    Named dump{{"ids", ids}, {"targets", targets}};
    dump.emplace_back("logits", snapshot(model.logits(ids[0], true)));
    dump.emplace_back("greedy", greedy(model, ids[0][0]));
    model.loss({{ids[0], targets[0]}, 0}, true).backward();
    addGradients(dump, model);
    addFlops(dump, model, {{ids[0], targets[0]}, 0});
    dump.emplace_back("losses", trainingLosses(model, spec, ids, targets));
    for (const rm::Parameter& parameter : model.parameters())
        dump.emplace_back("after." + parameter.name, snapshot(parameter.value));
    dump.emplace_back("logits after", snapshot(model.logits(ids[0], false)));
    return dump;
}

rm::Result<void> run(const std::string& specFile, const std::string& folder, const std::string& out,
                     const std::string& saved) {
    const auto spec = rm::loadRunSpec(specFile);
    if (!spec)
        return tl::unexpected(spec.error());
    const auto model = load(folder);
    if (!model)
        return tl::unexpected(model.error());
    const int64_t vocab = (*model)->parameters().front().value.size(0);
    return save(out, compute(**model, *spec, vocab)).and_then([&] {
        return saveModel(**model, saved);
    });
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fputs("usage: llama_dump SPEC FOLDER OUT SAVED\n", stderr);
        return 2;
    }
    return ended(run(argv[1], argv[2], argv[3], argv[4]));
}
