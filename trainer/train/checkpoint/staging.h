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

    /// On the training thread, once what `content` shows is queued on the device.
    virtual void begin(CheckpointContent& content) = 0;
    /// On the writer's thread: does the rest and waits. Nothing of `content` is live afterwards.
    virtual void finish(CheckpointContent& content) = 0;
    /// On the training thread: what is queued from now on may change the tensors. Waits for
    /// finish() where the host copies.
    virtual void release() = 0;
};

/// On the CPU finish() copies; on an accelerator a stream of its own does, into pinned memory.
std::unique_ptr<Staging> makeStaging(at::Device device);

} // namespace rm
