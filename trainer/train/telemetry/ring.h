// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace rm {

/// A queue of plain values between one pushing and one popping thread, without locks.
template <class T>
class SpscRing {
public:
    /// `capacity` is a power of two.
    explicit SpscRing(size_t capacity)
        : m_mask(capacity - 1)
        , m_slots(std::make_unique<T[]>(capacity)) {}

    /// False when full. The pushing thread alone.
    bool push(const T& value) {
        const size_t tail = m_tail.load(std::memory_order_relaxed);
        if (tail - m_knownHead > m_mask) {
            m_knownHead = m_head.load(std::memory_order_acquire);
            if (tail - m_knownHead > m_mask)
                return false;
        }
        m_slots[tail & m_mask] = value;
        m_tail.store(tail + 1, std::memory_order_release);
        return true;
    }

    /// False when empty. The popping thread alone.
    bool pop(T& value) {
        const size_t head = m_head.load(std::memory_order_relaxed);
        if (head == m_knownTail) {
            m_knownTail = m_tail.load(std::memory_order_acquire);
            if (head == m_knownTail)
                return false;
        }
        value = m_slots[head & m_mask];
        m_head.store(head + 1, std::memory_order_release);
        return true;
    }

private:
    static constexpr size_t kCacheLine = 64;

    const size_t m_mask;
    const std::unique_ptr<T[]> m_slots;
    // Each thread's index and its cached copy of the other's are on their own cache line.
    alignas(kCacheLine) std::atomic<size_t> m_tail{0};
    size_t m_knownHead = 0;
    alignas(kCacheLine) std::atomic<size_t> m_head{0};
    size_t m_knownTail = 0;
};

} // namespace rm
