// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/unit/train/allocation_peak.h"
#include "trainer/train/model/model.h"

#include <ATen/Context.h>

#include <vector>

namespace rm::test {

/// The loss of a training step and behind it all gradients; the same random numbers every time.
inline std::vector<at::Tensor> lossAndGradients(Model& model, const Batch& batch) {
    at::manual_seed(7);
    const at::Tensor loss = model.loss(batch, true);
    loss.backward();
    std::vector<at::Tensor> all{loss.detach()};
    for (const Parameter& parameter : model.parameters())
        all.push_back(parameter.value.grad());
    return all;
}

inline bool areEqual(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
    for (size_t i = 0; i < a.size(); ++i)
        if (!a[i].equal(b[i]))
            return false;
    return a.size() == b.size();
}

/// Most bytes that ATen had at once in the forward and backward pass of a training step.
inline int64_t trainingPeak(Model& model, const Batch& batch) {
    const AllocationPeak peak;
    model.loss(batch, true).backward();
    return peak.bytes();
}

} // namespace rm::test
