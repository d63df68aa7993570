// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/fused_ops.h"

namespace rm {

/// The plugin's own kernels; null if this build or the current GPU (before sm_80) has none. Valid
/// as long as the plugin is loaded. Its ops are only queued on the current stream of their tensors'
/// device, so they can be captured into a graph. Any thread.
const FusedOps* cudaFusedOps();

} // namespace rm
