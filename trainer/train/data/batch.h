// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace rm {

/// What one micro-batch consists of; which tensors it has is between data and model.
struct Batch {
    /// gpt: inputs and targets, both int64 (B, T).
    std::vector<at::Tensor> tensors;
    int64_t targets = 0; ///< what the loss is a mean over: tokens without padding, or pictures
};

/// Starts the copy of a batch to the device; returns it as it is on the CPU.
Batch toDevice(Batch batch, at::Device device);

} // namespace rm
