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

/// One micro-batch. Which tensors it has depends on the workload:
struct Batch {
    /// gpt: inputs and targets, both int64 (B, T).
    /// translation: source ids (B, S); a mask of the real ones, bool (B, 1, 1, S); the decoder's
    /// input (B, T); targets without padding (N); their positions in B x T (N). An empty mask or
    /// list of positions means that there is no padding. Instead of positions there may be targets
    /// for all B x T, with kIgnoredTarget for padding.
    /// resnet: pictures as uint8 (B, 3, H, W), channels-last, and classes as int64 (B); of a
    /// validation also the pictures' indices in their folder (B).
    std::vector<at::Tensor> tensors;
    int64_t targets = 0; ///< how many the loss is a mean over: tokens without padding, or pictures
    std::vector<BadSample> bad{}; ///< samples that were skipped
};

/// Pins a batch so that its copy to the device is asynchronous; for the CPU returns it unchanged.
Batch pinned(Batch batch, at::Device device);

/// Starts the copy of a batch to the device; for the CPU returns it unchanged.
Batch toDevice(Batch batch, const Device& device);

} // namespace rm
