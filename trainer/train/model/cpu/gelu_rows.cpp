// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX2 (CMakeLists.txt), with which the compiler vectorizes these loops. Nothing of
// the standard library is used here, as the linker could merge its inline functions with those of
// code that has to run on any processor.
#include "trainer/train/model/cpu/gelu_rows.h"

#include "trainer/train/model/cpu/exponential.h"

namespace rm {
namespace {

constexpr float kTanhScale = 0.797884561F; // sqrt(2 / pi)
constexpr float kCubic = 0.044715F;

/// e = exp(-2 u), where u = sqrt(2 / pi) (v + 0.044715 v^3): (1 + tanh(u)) / 2 = 1 / (1 + e)
inline float decay(float v) {
    const float z = -2 * kTanhScale * (v + kCubic * v * v * v);
    return exponential(__builtin_fminf(__builtin_fmaxf(z, -kMostExponent), kMostExponent));
}

} // namespace

void geluForward(const GeluRows& in, float* y) {
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

// y = v s with s = 1 / (1 + e), s' = s (1 - s) 2 u'; 1 - s = e s loses no digits.
void geluBackward(const GeluRows& in, const float* dy, float* dx, float* biasGradient) {
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

} // namespace rm
