// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/batch.h"

namespace rm {

Batch pinned(Batch batch, at::Device device) {
    if (device.is_cpu())
        return batch;
    for (at::Tensor& tensor : batch.tensors)
        if (!tensor.is_pinned())
            tensor = tensor.pin_memory();
    return batch;
}

Batch toDevice(Batch batch, at::Device device) {
    if (device.is_cpu())
        return batch;
    batch = pinned(std::move(batch), device);
    for (at::Tensor& tensor : batch.tensors)
        tensor = tensor.to(device, /*non_blocking=*/true);
    return batch;
}

} // namespace rm
