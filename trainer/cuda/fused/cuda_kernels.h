// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/fused_ops.h"

namespace rm {

/// The plugin's own kernels; null where this build or the current GPU (before sm_80) has none.
const FusedOps* cudaFusedOps();

} // namespace rm
