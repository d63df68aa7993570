// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/checkpoint/staging.h"

#include <functional>
#include <thread>

namespace rm {

/// Writes checkpoints beside training, one at a time. Called from the training thread.
class CheckpointWriter {
public:
    /// What becomes of the content once it is on the host; runs on a thread of the writer's.
    using Publish = std::function<Result<void>(const CheckpointContent&)>;

    explicit CheckpointWriter(at::Device device);
    ~CheckpointWriter(); ///< waits for what is under way

    /// Begins; waits for the one before. The tensors that are live must not change until release().
    void start(CheckpointContent content, Publish publish);
    /// Before anything that changes weights or optimizer state. False: nothing was being staged.
    bool release();

    /// Waits for the end of the last one: how it went. Success when there was none.
    Result<void> wait();

private:
    std::unique_ptr<Staging> m_staging;
    std::thread m_thread;
    bool m_isStaged = true;
    Result<void> m_result;
};

} // namespace rm
