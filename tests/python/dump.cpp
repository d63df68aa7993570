// SPDX-License-Identifier: Apache-2.0
#include "tests/python/dump.h"

#include "shared/checkpoint/safetensors.h"
#include "trainer/train/formats/dtypes.h"
#include "trainer/train/model/gradients.h"
#include "trainer/train/optim/optimizer.h"
#include "trainer/train/optim/schedule.h"
#include "trainer/train/workloads/foreign_weights.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <cstdio>

namespace rm::test {

at::Tensor snapshot(const at::Tensor& tensor) {
    return tensor.detach().clone(at::MemoryFormat::Contiguous);
}

Result<void> loadWeights(const Model& model, const std::string& folder) {
    return readWeights(folder).and_then(
        [&](const Weights& weights) { return fillModel(model, weights, folder); });
}

void clearGradients(const Model& model) {
    for (const Parameter& parameter : model.parameters())
        parameter.value.mutable_grad().reset();
}

void addGradients(Named& dump, const Model& model) {
    for (const Parameter& parameter : model.parameters())
        dump.emplace_back("gradient." + parameter.name, snapshot(parameter.value.grad()));
}

void addFlops(Named& dump, const Model& model, const Batch& batch) {
    dump.emplace_back("flops", at::tensor({model.forwardFlops(batch)}, at::kDouble));
}

at::Tensor trainingLosses(Model& model, const RunSpec& spec, const at::Tensor& ids,
                          const at::Tensor& targets) {
    const World alone;
    const auto optimizer = makeOptimizer(model, spec.optimizer, alone, nullptr);
    std::vector<at::Tensor> losses;
    for (int64_t step = 0; step < spec.train.steps; ++step) {
        clearGradients(model);
        const at::Tensor loss = model.loss({{ids[step], targets[step]}, 0}, true);
        loss.backward();
        const double lr =
            learningRate(spec.schedule, spec.optimizer.lr, step + 1, spec.train.steps);
        optimizer->step(lr, {clippingDivisor(optimizer->gradientNorm(), spec.optimizer.clip), {}});
        losses.push_back(snapshot(loss));
    }
    return at::stack(losses);
}

Result<void> save(const std::string& path, const Named& dump,
                  const std::map<std::string, std::string>& metadata) {
    std::vector<TensorView> views;
    for (const auto& [name, tensor] : dump) {
        const auto* bytes = static_cast<const std::byte*>(tensor.const_data_ptr());
        views.push_back({name,
                         safetensorsDtype(tensor.scalar_type()),
                         tensor.sizes().vec(),
                         {bytes, tensor.nbytes()}});
    }
    return writeSafetensors(path, views, metadata);
}

int ended(const Result<void>& done) {
    if (!done)
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done ? 0 : 1;
}

} // namespace rm::test
