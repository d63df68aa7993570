// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/world.h"

#include <ATen/core/Tensor.h>

namespace rm {

/// The tensors of one batch norm over C channels: (C) each, but `batches` is an int64 scalar.
struct NormTensors {
    at::Tensor weight, bias;
    at::Tensor mean, variance; ///< running ones, which training changes
    at::Tensor batches;        ///< count; if all three are undefined, they are not updated
};

/// torch.nn.BatchNorm2d of `x` (B, C, H, W) with its default eps and momentum. `training`: uses the
/// statistics of this batch or, unless `over` is null, of all ranks' batches together, as
/// torch.nn.SyncBatchNorm. Then all ranks must call it together, and run its backward pass
/// together.
at::Tensor batchNorm(const at::Tensor& x, const NormTensors& norm, bool training,
                     const World* over);

} // namespace rm
