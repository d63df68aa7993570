// SPDX-License-Identifier: Apache-2.0
// The loops of GeluLoops, for a source file that is compiled for one instruction set: it includes
// this and nothing of the standard library, whose inline functions the linker would else share with
// code that runs on any processor.
#pragma once

#include "trainer/train/model/cpu/gelu_rows.h"

namespace rm {
namespace {

// exp(z) for |z| <= kMostExponent to 2 units in the last place: z = n ln 2 + r with |r| <= ln 2 /
// 2, e^r by its Taylor series to r^7 / 7!, and 2^n put together from its bits.
constexpr float kMostExponent = 87.0F;

inline float exponential(float z) {
    constexpr float kLog2E = 1.44269504F, kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
    constexpr float kToInteger = 12582912.0F; // 1.5 * 2^23: adding it rounds to a whole number
    const float shifted = z * kLog2E + kToInteger;
    const float n = shifted - kToInteger;
    const float r = (z - n * kLn2High) - n * kLn2Low;
    float series = 1.0F / 5040;
    series = series * r + 1.0F / 720;
    series = series * r + 1.0F / 120;
    series = series * r + 1.0F / 24;
    series = series * r + 1.0F / 6;
    series = series * r + 0.5F;
    series = series * r + 1.0F;
    series = series * r + 1.0F;
    const int32_t power = (static_cast<int32_t>(n) + 127) << 23;
    return series * __builtin_bit_cast(float, power);
}

constexpr float kTanhScale = 0.797884561F; // sqrt(2 / pi)
constexpr float kCubic = 0.044715F;

/// e = exp(-2 u), where u = sqrt(2 / pi) (v + 0.044715 v^3): (1 + tanh(u)) / 2 = 1 / (1 + e)
inline float decay(float v) {
    const float z = -2 * kTanhScale * (v + kCubic * v * v * v);
    return exponential(__builtin_fminf(__builtin_fmaxf(z, -kMostExponent), kMostExponent));
}

void forward(const GeluRows& in, float* y) {
    for (int64_t row = 0; row < in.rows; ++row) {
        const float* __restrict x = in.x + row * in.columns;
        const float* __restrict bias = in.bias;
        float* __restrict out = y + row * in.columns;
        for (int64_t i = 0; i < in.columns; ++i) {
            const float v = x[i] + bias[i];
            out[i] = v / (1.0F + decay(v));
        }
    }
}

/// y = v s with s = 1 / (1 + e), s' = s (1 - s) 2 u' and 1 - s = e s, which loses no digits.
void backward(const GeluRows& in, const float* dy, float* dx, float* biasGradient) {
    for (int64_t row = 0; row < in.rows; ++row) {
        const float* __restrict x = in.x + row * in.columns;
        const float* __restrict bias = in.bias;
        const float* __restrict gradient = dy + row * in.columns;
        float* __restrict out = dx + row * in.columns;
        float* __restrict sums = biasGradient;
        for (int64_t i = 0; i < in.columns; ++i) {
            const float v = x[i] + bias[i];
            const float e = decay(v);
            const float s = 1.0F / (1.0F + e);
            const float slope = 2 * kTanhScale * (1.0F + 3 * kCubic * v * v);
            out[i] = gradient[i] * (s + v * s * (e * s) * slope);
            sums[i] += out[i];
        }
    }
}

} // namespace
} // namespace rm
