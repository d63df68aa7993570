// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/address_memory.h"

#include "shared/amounts.h"

#include <c10/util/Exception.h>
#include <sys/mman.h>

#include <cstring>

namespace rm {
namespace {

constexpr uint8_t kPriority = 50; ///< above ATen's own

class AddressAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(size_t size) override {
        auto* const block = new Block{nullptr, size};
        if (size > 0)
            block->at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block->at == MAP_FAILED) {
            delete block;
            TORCH_CHECK_WITH(OutOfMemoryError, false, "one tensor of ",
                             memoryWords(static_cast<int64_t>(size)),
                             " is more than the addresses that a process has left; a smaller model "
                             "needs fewer");
        }
        if (size > 0)
            c10::profiledCPUMemoryReporter().New(block->at, size);
        return {block->at, block, &release, c10::Device(c10::kCPU)};
    }
    void copy_data(void* to, const void* from, size_t size) const override {
        std::memcpy(to, from, size);
    }

private:
    struct Block {
        void* at;
        size_t size;
    };
    static void release(void* context) {
        auto* const block = static_cast<Block*>(context);
        if (block->size > 0) {
            c10::profiledCPUMemoryReporter().Delete(block->at);
            ::munmap(block->at, block->size);
        }
        delete block;
    }
};

AddressAllocator& addresses() {
    static AddressAllocator allocator;
    return allocator;
}

} // namespace

AddressMemory::AddressMemory()
    : m_before(c10::GetCPUAllocator()) {
    c10::SetCPUAllocator(&addresses(), kPriority);
}

AddressMemory::~AddressMemory() {
    c10::SetCPUAllocator(m_before, kPriority);
}

} // namespace rm
