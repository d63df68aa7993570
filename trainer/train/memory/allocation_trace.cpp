// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/allocation_trace.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <mutex>
#include <utility>

namespace rm {

struct AllocationTrace::Recorder final : c10::MemoryReportingInfoBase {
    explicit Recorder(at::DeviceType deviceType)
        : device(deviceType) {}

    void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device where) override {
        if (where.type() != device || size == 0)
            return;
        const std::scoped_lock lock(mutex);
        level += size;
        changes.push_back(size);
    }
    bool memoryProfilingEnabled() const override { return true; }

    const at::DeviceType device;
    std::mutex mutex; ///< autograd has a thread for each GPU
    int64_t level = 0;
    MemoryTrace changes;
};

struct AllocationTrace::Scope {
    explicit Scope(const std::shared_ptr<Recorder>& recorder)
        : guard(c10::DebugInfoKind::PROFILER_STATE, recorder) {}
    c10::DebugInfoGuard guard;
};

AllocationTrace::AllocationTrace(at::DeviceType device)
    : m_recorder(std::make_shared<Recorder>(device))
    , m_scope(std::make_unique<Scope>(m_recorder)) {}

AllocationTrace::~AllocationTrace() = default;

int64_t AllocationTrace::level() const {
    const std::scoped_lock lock(m_recorder->mutex);
    return m_recorder->level;
}

MemoryTrace AllocationTrace::take() {
    const std::scoped_lock lock(m_recorder->mutex);
    return std::exchange(m_recorder->changes, {});
}

} // namespace rm
