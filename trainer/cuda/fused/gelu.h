// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/arguments.h"
#include "trainer/cuda/fused/host_device.h"

#include <cmath>

/// y = gelu(x + bias), gelu(v) = v / 2 * (1 + tanh(k * (v + c * v^3))), k = sqrt(2 / pi),
/// c = 0.044715: the tanh form of Hendrycks and Gimpel (2016), which GPT-2 uses.
namespace rm::fused {

template <class Acc>
struct Gelu {
    static constexpr Acc k = Acc(0.79788456080286535588);
    static constexpr Acc c = Acc(0.044715);

    static RM_HD Acc tanhAt(Acc v) { return std::tanh(k * (v + c * v * v * v)); }
    static RM_HD Acc value(Acc v) { return Acc(0.5) * v * (Acc(1) + tanhAt(v)); }

    /// With t the tanh and u its argument: (1 + t) / 2 + v / 2 * (1 - t^2) * du/dv.
    static RM_HD Acc slope(Acc v) {
        const Acc t = tanhAt(v);
        const Acc du = k * (Acc(1) + Acc(3) * c * v * v);
        return Acc(0.5) * (Acc(1) + t) + Acc(0.5) * v * (Acc(1) - t * t) * du;
    }
};

/// Rows first, first + stride, ... of the columns [column, column + kWidth).
template <int kWidth, class T, class Bias>
RM_HD void biasGeluColumns(const BiasGelu& a, int64_t column, int64_t first, int64_t stride) {
    using Acc = Accumulator<T>;
    Acc bias[kWidth];
    load<kWidth>(static_cast<const Bias*>(a.bias) + column, bias);
    for (int64_t row = first; row < a.rows; row += stride) {
        const int64_t at = row * a.columns + column;
        Acc x[kWidth];
        load<kWidth>(static_cast<const T*>(a.x) + at, x);
        RM_UNROLL
        for (int i = 0; i < kWidth; ++i)
            x[i] = Gelu<Acc>::value(x[i] + bias[i]);
        store<kWidth>(x, static_cast<T*>(a.y) + at);
    }
}

/// dx = dy * slope(x + bias). Row `first` of the partial sums (groups, columns) gets the sum of
/// these rows' dx before rounding: this group's share of the bias gradient.
template <int kWidth, class T, class Bias>
RM_HD void biasGeluBackwardColumns(const BiasGeluBackward& a, int64_t column, int64_t first,
                                   int64_t stride) {
    using Acc = Accumulator<T>;
    Acc bias[kWidth];
    Acc total[kWidth] = {};
    load<kWidth>(static_cast<const Bias*>(a.bias) + column, bias);
    for (int64_t row = first; row < a.rows; row += stride) {
        const int64_t at = row * a.columns + column;
        Acc x[kWidth];
        Acc d[kWidth];
        load<kWidth>(static_cast<const T*>(a.x) + at, x);
        load<kWidth>(static_cast<const T*>(a.dy) + at, d);
        RM_UNROLL
        for (int i = 0; i < kWidth; ++i) {
            d[i] *= Gelu<Acc>::slope(x[i] + bias[i]);
            total[i] += d[i];
        }
        store<kWidth>(d, static_cast<T*>(a.dx) + at);
    }
    store<kWidth>(total, static_cast<Acc*>(a.biasPartials) + first * a.columns + column);
}

} // namespace rm::fused
