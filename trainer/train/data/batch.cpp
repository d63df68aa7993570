// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/batch.h"

namespace rm {

Batch toDevice(Batch batch, at::Device device) {
    if (device.is_cpu())
        return batch;
    for (at::Tensor& tensor : batch.tensors) // pinned, so that the copy waits for nothing
        tensor = tensor.pin_memory().to(device, /*non_blocking=*/true);
    return batch;
}

} // namespace rm
