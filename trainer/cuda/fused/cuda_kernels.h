// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/fused_ops.h"

namespace rm {

/// The plugin's own kernels; null where this build or the current GPU (before sm_80) has none.
/// Valid as long as the plugin is loaded. Every op of it is queued on the current stream of its
/// tensors' device and waits for nothing, so that it can be captured into a graph; any thread.
const FusedOps* cudaFusedOps();

} // namespace rm
