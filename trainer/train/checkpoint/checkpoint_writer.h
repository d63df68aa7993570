// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/checkpoint/staging.h"

#include <functional>
#include <thread>

namespace rm {

/// Writes checkpoints beside training, one at a time. Called from the training thread.
class CheckpointWriter {
public:
    /// The function that gets the content once it is on the host, on the writer's thread.
    using Publish = std::function<Result<void>(const CheckpointContent&)>;

    explicit CheckpointWriter(at::Device device);
    ~CheckpointWriter(); ///< waits for the checkpoint that is being written

    /// Waits for the previous checkpoint and starts this one. Tensors that are `isLive` must not
    /// change until release().
    void start(CheckpointContent content, Publish publish);
    /// Call it before weights or optimizer state change. False: nothing was being copied.
    bool release();

    /// Waits for the last checkpoint and returns its result. Success when there was none.
    Result<void> wait();

private:
    std::unique_ptr<Staging> m_staging;
    std::thread m_thread;
    bool m_isStaged = true;
    Result<void> m_result;
};

} // namespace rm
