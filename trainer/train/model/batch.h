// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/device.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// A target that the loss does not count.
inline constexpr int64_t kIgnoredTarget = -100;

/// A sample that could not be read.
struct BadSample {
    std::string path;
    std::string cause;
    bool operator==(const BadSample&) const = default;
};

/// What one micro-batch consists of; which tensors it has is between data and model.
struct Batch {
    /// gpt: inputs and targets, both int64 (B, T).
    /// translation: source ids (B, S); which of them are real, bool (B, 1, 1, S); what the decoder
    /// sees (B, T); its targets without padding (N); their places in B x T (N). An empty mask or
    /// list of places says that there is no padding; instead of places, targets of all B x T may
    /// have kIgnoredTarget where there is padding.
    /// resnet: pictures as uint8 (B, 3, H, W), channels-last, and classes as int64 (B).
    std::vector<at::Tensor> tensors;
    int64_t targets = 0; ///< what the loss is a mean over: tokens without padding, or pictures
    std::vector<BadSample> bad{}; ///< left out while it was made
};

/// Pins a batch so that its copy to the device waits for nothing; as it is for the CPU.
Batch pinned(Batch batch, at::Device device);

/// Starts the copy of a batch to the device; returns it as it is on the CPU.
Batch toDevice(Batch batch, const Device& device);

} // namespace rm
