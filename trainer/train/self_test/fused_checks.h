// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/fused_ops.h"

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <string>
#include <vector>

namespace rm {

/// How far one result is from ATen's in float64, relative to the largest value there, or to 0.01.
struct Deviation {
    std::string what;
    double error = 0;
    double limit = 0;
    bool isFine() const { return error <= limit; } ///< false for NaN as well
};

/// One size at which a fused operation is compared with the composition of ATen's ops in float64 on
/// the same device, for the same numbers: values and every gradient. `type` is that of the narrow
/// tensors; the wide ones are float32, or float64 if `type` is.
struct FusedCase {
    at::Device device = at::kCPU;
    at::ScalarType type = at::kFloat;
    int64_t rows = 1;
    int64_t columns = 1;
};
std::string nameOf(const FusedCase& at); ///< "bfloat16 7 x 769"

/// `normedOnly`: the sum itself is not used further, as in a post-norm model.
std::vector<Deviation> checkAddLayerNorm(const FusedOps& ops, const FusedCase& at, NormedFor use,
                                         bool normedOnly);
std::vector<Deviation> checkBiasGelu(const FusedOps& ops, const FusedCase& at);

/// Columns are the width of the hidden states; every fifth target is ignored.
std::vector<Deviation> checkClassifierLoss(const FusedOps& ops, const FusedCase& at,
                                           int64_t classes, double labelSmoothing, bool withBias);

/// The sizes that a kernel may stumble over: one, odd, just beside a warp, a pack and a block, and
/// those of real models.
std::vector<FusedCase> awkwardCases(at::Device device, at::ScalarType type, int64_t longestRow);

} // namespace rm
