// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/model_size.h"

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <cstring>
#include <new>

namespace rm {
namespace {

constexpr uint8_t kPriority = 50; ///< above ATen's own

/// Gives addresses; memory comes to those that are written to, which parameters are not here.
class AddressAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(size_t size) override {
        auto* const block = new Block{nullptr, size};
        if (size > 0)
            block->at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block->at != MAP_FAILED)
            return {block->at, block, &release, c10::Device(c10::kCPU)};
        delete block;
        throw std::bad_alloc(); // as allocators do
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
        if (block->size > 0)
            ::munmap(block->at, block->size);
        delete block;
    }
};

/// ATen's allocator on the CPU, as long as it lives.
class UseAddresses {
public:
    UseAddresses()
        : m_before(c10::GetCPUAllocator()) {
        c10::SetCPUAllocator(&m_addresses, kPriority);
    }
    ~UseAddresses() { c10::SetCPUAllocator(m_before, kPriority); }
    UseAddresses(const UseAddresses&) = delete;
    UseAddresses& operator=(const UseAddresses&) = delete;

private:
    AddressAllocator m_addresses;
    c10::Allocator* m_before;
};

} // namespace

ModelSize modelSizeOf(const RunSpec& spec, const DataSizes& sizes, const Device& device) {
    const UseAddresses use;
    const World world = World::imagined(1, device);
    const auto model = makeModel(spec, sizes, world);
    ModelSize size;
    for (const at::Tensor& value : parameterValues(*model))
        size.parameters += static_cast<int64_t>(value.nbytes());
    for (const Buffer& buffer : model->buffers())
        size.buffers += static_cast<int64_t>(buffer.value.nbytes());
    return size;
}

} // namespace rm
