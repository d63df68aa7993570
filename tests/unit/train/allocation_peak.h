// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace rm::test {

/// Counts what ATen allocates and frees on the CPU, exactly, in what this thread does as long as it
/// lives.
class AllocationPeak {
public:
    AllocationPeak()
        : m_counter(std::make_shared<Counter>())
        , m_guard(c10::DebugInfoKind::PROFILER_STATE, m_counter) {}

    int64_t bytes() const { return m_counter->peak; } ///< most at once, beyond those at the start

private:
    struct Counter final : c10::MemoryReportingInfoBase {
        void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device) override {
            now += size;
            peak = std::max(peak, now);
        }
        bool memoryProfilingEnabled() const override { return true; }

        int64_t now = 0;
        int64_t peak = 0;
    };

    std::shared_ptr<Counter> m_counter;
    c10::DebugInfoGuard m_guard;
};

} // namespace rm::test
