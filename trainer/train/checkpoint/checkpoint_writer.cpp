// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/checkpoint/checkpoint_writer.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace rm {
namespace {

/// Lowers the priority of the calling thread only: hashing and writing use the time that training
/// leaves, and a whole core when training waits for them.
void yieldToTraining() {
    constexpr int kNiceness = 10;
    static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness));
}

} // namespace

CheckpointWriter::CheckpointWriter(at::Device device)
    : m_staging(makeStaging(device)) {}

CheckpointWriter::~CheckpointWriter() {
    static_cast<void>(wait());
}

void CheckpointWriter::start(CheckpointContent content, Publish publish) {
    static_cast<void>(wait());
    m_staging->begin(content);
    m_isStaged = false;
    m_thread =
        std::thread([this, content = std::move(content), publish = std::move(publish)]() mutable {
            try {
                m_staging->finish(content);
                yieldToTraining();
                m_result = publish(content);
            } catch (const std::exception& error) { // LibTorch's: no memory, a device gone
                m_result =
                    fail(ErrorCode::kInternal, std::string("save a checkpoint: ") + error.what());
            }
        });
}

bool CheckpointWriter::release() {
    if (std::exchange(m_isStaged, true))
        return false;
    m_staging->release();
    return true;
}

Result<void> CheckpointWriter::wait() {
    if (m_thread.joinable())
        m_thread.join();
    return m_result;
}

} // namespace rm
