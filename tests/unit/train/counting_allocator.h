// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <atomic>
#include <cstring>

namespace rm::test {

/// Counts what ATen allocates on the CPU from any thread, from useCountingAllocator() on. The bytes
/// are malloc's, a few more a block than were asked for.
class CountingAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(size_t size) override {
        c10::DataPtr memory = c10::GetDefaultCPUAllocator()->allocate(size);
        void* const at = memory.get();
        memory.release_context();
        const int64_t level = s_level += static_cast<int64_t>(malloc_usable_size(at));
        for (int64_t peak = s_peak; level > peak && !s_peak.compare_exchange_weak(peak, level);)
            ;
        return {at, at, &free, c10::Device(c10::kCPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &free; }
    void copy_data(void* to, const void* from, size_t size) const override {
        std::memcpy(to, from, size);
    }

    static int64_t peak() { return s_peak; } ///< bytes, most at once

private:
    static void free(void* at) {
        s_level -= static_cast<int64_t>(malloc_usable_size(at));
        c10::GetDefaultCPUAllocator()->raw_deleter()(at);
    }

    static inline std::atomic<int64_t> s_level = 0;
    static inline std::atomic<int64_t> s_peak = 0;
};

/// Before the first tensor.
inline void useCountingAllocator() {
    constexpr uint8_t kAboveAll = 100;
    c10::SetCPUAllocator(new CountingAllocator, kAboveAll); // which nobody ever frees
}

} // namespace rm::test
