// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/device/tensor_heap.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/alignment.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace rm {
namespace {

constexpr size_t kMost = std::numeric_limits<ptrdiff_t>::max() - c10::gAlignment;

/// A tensor's bytes begin where its block has the next multiple of the alignment; the block's own
/// address is just before them.
class TensorHeap final : public c10::Allocator {
public:
    c10::DataPtr allocate(size_t size) override {
        void* const at = size > 0 ? take(size) : nullptr;
        return {at, at, &release, c10::Device(c10::kCPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void* to, const void* from, size_t size) const override {
        default_copy_data(to, from, size);
    }

private:
    static void* take(size_t size) {
        auto* const block = size <= kMost ? std::malloc(size + c10::gAlignment) : nullptr;
        if (!block) {
            c10::profiledCPUMemoryReporter().OutOfMemory(size);
            C10_THROW_ERROR(OutOfMemoryError, "allocate a tensor of " + std::to_string(size) +
                                                  " bytes: the machine has no more memory");
        }
        const size_t past = reinterpret_cast<uintptr_t>(block) % c10::gAlignment;
        char* const at = static_cast<char*>(block) + c10::gAlignment - past;
        static_assert(alignof(std::max_align_t) >= sizeof block); // so there is room for it
        std::memcpy(at - sizeof block, &block, sizeof block);
        c10::profiledCPUMemoryReporter().New(at, size);
        return at;
    }

    static void release(void* at) {
        if (!at)
            return;
        c10::profiledCPUMemoryReporter().Delete(at);
        void* block = nullptr;
        std::memcpy(&block, static_cast<char*>(at) - sizeof block, sizeof block);
        std::free(block);
    }
};

} // namespace

void useTensorHeap() {
    static TensorHeap heap;
    constexpr uint8_t kAboveDefault = 1;
    c10::SetCPUAllocator(&heap, kAboveDefault);
}

} // namespace rm
