// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rm {

/// Rows of float32 one behind the other, and a bias of as many columns.
struct GeluRows {
    int64_t rows = 0, columns = 0;
    const float* x = nullptr;
    const float* bias = nullptr;
};

/// y = gelu(x + bias), tanh form [Hendrycks & Gimpel, "Gaussian Error Linear Units", 2016], within
/// 2e-7 of the larger of 1 and |y|, for |x + bias| up to 1e6; not finite where that is not. For
/// processors with AVX2 and FMA; the same sums on all of them.
void geluForward(const GeluRows& in, float* y);

/// dx from dy, and `biasGradient` += the sums of dx by column.
void geluBackward(const GeluRows& in, const float* dy, float* dx, float* biasGradient);

} // namespace rm
