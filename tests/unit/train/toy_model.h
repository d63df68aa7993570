// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/unit/train/training_pass.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn_like.h>

#include <memory>
#include <vector>

namespace rm::test {

/// A model of two matrices, one of them channels-last, and two vectors; its gradients are set by
/// hand.
class ToyModel final : public Model {
public:
    ToyModel() {
        addParameter("first.weight", {6, 5});
        addParameter("first.bias", {5});
        const size_t conv = addParameter("conv.weight", {4, 3, 2, 2});
        parameter(conv).set_data(parameter(conv).contiguous(at::MemoryFormat::ChannelsLast));
        addParameter("norm.weight", {3});
    }

    void initialize(at::Generator generator) override {
        const at::NoGradGuard noGrad;
        for (const Parameter& parameter : parameters())
            parameter.value.detach().normal_(0, 1, generator);
    }

    at::Tensor loss(const Batch&, bool) override { return {}; }
    double forwardFlops(const Batch&) const override { return 0; }
    std::string configJson() const override { return "{}"; }
};

inline std::unique_ptr<ToyModel> toyModel(uint64_t seed) {
    auto model = std::make_unique<ToyModel>();
    model->initialize(at::make_generator<at::CPUGeneratorImpl>(seed));
    return model;
}

/// Random gradients, whose order of magnitude `scale` sets.
inline void setGradients(const Model& model, double scale) {
    for (const Parameter& parameter : model.parameters())
        parameter.value.mutable_grad() = at::randn_like(parameter.value.detach()).mul_(scale);
}

inline std::vector<at::Tensor> copyOf(const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> copies;
    for (const at::Tensor& tensor : tensors)
        copies.push_back(tensor.detach().clone());
    return copies;
}

} // namespace rm::test
