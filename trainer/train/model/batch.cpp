// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/batch.h"

namespace rm {

Batch pinned(Batch batch, at::Device device) {
    if (device.is_cpu())
        return batch;
    for (at::Tensor& tensor : batch.tensors)
        if (!tensor.is_pinned())
            tensor = tensor.pin_memory();
    return batch;
}

Batch toDevice(Batch batch, const Device& device) {
    batch.tensors = device.plugin->copyHere(std::move(batch.tensors));
    return batch;
}

} // namespace rm
