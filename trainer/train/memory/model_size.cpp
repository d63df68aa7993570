// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/model_size.h"

#include "trainer/train/memory/address_memory.h"
#include "trainer/train/workloads/registry.h"

namespace rm {

ModelSize modelSizeOf(const RunSpec& spec, const DataSizes& sizes, const Device& device) {
    const AddressMemory addresses;
    const World world = World::imagined(1, device);
    const auto model = workloadOf(spec).makeModel(spec, sizes, world);
    ModelSize size;
    for (const at::Tensor& value : parameterValues(*model))
        size.parameters += static_cast<int64_t>(value.nbytes());
    for (const Buffer& buffer : model->buffers())
        size.buffers += static_cast<int64_t>(buffer.value.nbytes());
    return size;
}

} // namespace rm
