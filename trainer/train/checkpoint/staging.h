// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/checkpoint/checkpoint.h"

#include <memory>

namespace rm {

/// Copies the live tensors of a checkpoint to the host while training already computes the next
/// gradients, which changes none of them.
class Staging {
public:
    virtual ~Staging() = default;

    /// On the training thread, after all work that produces `content` is queued on the device.
    virtual void begin(CheckpointContent& content) = 0;
    /// On the writer's thread: completes the copies. Afterwards no tensor of `content` is live.
    virtual void finish(CheckpointContent& content) = 0;
    /// On the training thread: work queued after this may change the tensors. Waits for finish() if
    /// the host copies.
    virtual void release() = 0;
};

/// On the CPU finish() copies; on an accelerator a separate stream copies into pinned memory.
std::unique_ptr<Staging> makeStaging(at::Device device);

} // namespace rm
