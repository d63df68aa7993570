// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/arguments.h"

#include <ATen/core/Tensor.h>

namespace rm {

/// The kernels of the plugin on the CPU: the same arithmetic, the same dealing out of rows to warps
/// and blocks, with a thread for every lane. Besides the GPU's numbers it computes in float64. For
/// small tensors.
struct HostKernels {
    static constexpr int64_t kChunkBytes = 2048; ///< so that small losses have several chunks

    static bool covers(at::ScalarType type);
    static int64_t normTeams(const at::Tensor& like, int64_t rows, int64_t columns);
    static int64_t geluGroups(const at::Tensor& like, int64_t rows, int64_t columns);
    static void run(const fused::AddLayerNorm& a);
    static void run(const fused::AddLayerNormBackward& a);
    static void run(const fused::BiasGelu& a);
    static void run(const fused::BiasGeluBackward& a);
    static void run(const fused::ColumnSum& a);
    static void run(const fused::CrossEntropy& a);
    static void accumulate(at::Tensor& c, const at::Tensor& a, const at::Tensor& b);
};

} // namespace rm
