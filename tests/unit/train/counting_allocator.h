// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace rm::test {

/// Counts what ATen allocates on the CPU from any thread, from useCountingAllocator() on, with the
/// allocator that was there before.
class CountingAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(size_t size) override {
        c10::DataPtr memory = s_before->allocate(size);
        void* const at = memory.release_context();
        const std::scoped_lock lock(s_mutex);
        s_sizes[at] = size;
        s_level += size;
        s_peak = std::max(s_peak, s_level);
        return {at, at, &free, c10::Device(c10::kCPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &free; }
    void copy_data(void* to, const void* from, size_t size) const override {
        std::memcpy(to, from, size);
    }

    static size_t peak() { return s_peak; } ///< bytes, most at once

private:
    friend void useCountingAllocator();

    static void free(void* at) {
        {
            const std::scoped_lock lock(s_mutex);
            s_level -= std::exchange(s_sizes[at], 0);
        }
        s_before->raw_deallocate(at);
    }

    static inline c10::Allocator* s_before = nullptr;
    static inline std::mutex s_mutex;
    static inline std::unordered_map<void*, size_t> s_sizes;
    static inline size_t s_level = 0;
    static inline size_t s_peak = 0;
};

/// Before the first tensor.
inline void useCountingAllocator() {
    constexpr uint8_t kAboveAll = 100;
    CountingAllocator::s_before = c10::GetCPUAllocator();
    c10::SetCPUAllocator(new CountingAllocator, kAboveAll); // which nobody ever frees
}

} // namespace rm::test
