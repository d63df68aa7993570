// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/arguments.h"
#include "trainer/cuda/fused/row_slice.h"

#include <cmath>

/// sum = residual + delta;  normed = (sum - mean) * rstd * weight + bias, with mean and
/// rstd = 1 / sqrt(variance + eps) of each row of sum (Ba, Kiros and Hinton, 2016).
///
/// `Team` is a warp or a block: lane(), lanes(), and sum(x), which adds x over its lanes and gives
/// the result to all of them. Wide is the type of the residual stream and of all arithmetic.
namespace rm::fused {

template <int kItems, int kWidth, class Wide, class Delta, class Normed, class Team>
RM_HD void addLayerNormRow(const Team& team, const AddLayerNorm& a, int64_t row) {
    const int64_t start = row * a.columns;
    const auto* residual = static_cast<const Wide*>(a.residual) + start;
    const auto* delta = static_cast<const Delta*>(a.delta) + start;
    auto* sum = static_cast<Wide*>(a.sum) + start;
    Wide x[kItems] = {};
    Wide total = 0;
    forEachPack<kItems, kWidth>(team, a.columns, [&](int64_t column, int item) {
        Wide change[kWidth];
        load<kWidth>(residual + column, x + item);
        load<kWidth>(delta + column, change);
        RM_UNROLL
        for (int i = 0; i < kWidth; ++i) {
            x[item + i] += change[i];
            total += x[item + i];
        }
        store<kWidth>(x + item, sum + column);
    });
    const Wide mean = team.sum(total) / static_cast<Wide>(a.columns);

    Wide squares = 0;
    forEachPack<kItems, kWidth>(team, a.columns, [&](int64_t, int item) {
        RM_UNROLL
        for (int i = 0; i < kWidth; ++i)
            squares += (x[item + i] - mean) * (x[item + i] - mean);
    });
    const Wide variance = team.sum(squares) / static_cast<Wide>(a.columns);
    const Wide rstd = Wide(1) / std::sqrt(variance + static_cast<Wide>(a.eps));

    const auto* weight = static_cast<const Wide*>(a.weight);
    const auto* bias = static_cast<const Wide*>(a.bias);
    auto* normed = static_cast<Normed*>(a.normed) + start;
    forEachPack<kItems, kWidth>(team, a.columns, [&](int64_t column, int item) {
        Wide scale[kWidth];
        Wide y[kWidth];
        load<kWidth>(weight + column, scale);
        load<kWidth>(bias + column, y);
        RM_UNROLL
        for (int i = 0; i < kWidth; ++i)
            y[i] += (x[item + i] - mean) * rstd * scale[i];
        store<kWidth>(y, normed + column);
    });
    if (team.lane() == 0) {
        static_cast<Wide*>(a.mean)[row] = mean;
        static_cast<Wide*>(a.rstd)[row] = rstd;
    }
}

/// The sums that one lane keeps while its team goes through rows.
template <int kItems, class Wide>
struct NormGradients {
    Wide weight[kItems] = {};
    Wide bias[kItems] = {};
};

/// With g = dnormed * weight and xhat = (sum - mean) * rstd, over the row:
/// d = dsum + rstd * (g - mean(g) - xhat * mean(g * xhat)). It is the gradient of both addends.
template <int kItems, int kWidth, class Wide, class Delta, class Normed, class Team>
RM_HD void addLayerNormBackwardRow(const Team& team, const AddLayerNormBackward& a, int64_t row,
                                   NormGradients<kItems, Wide>& gradients) {
    const int64_t start = row * a.columns;
    const auto* sum = static_cast<const Wide*>(a.sum) + start;
    const auto* dNormed = static_cast<const Normed*>(a.dNormed) + start;
    const auto* weight = static_cast<const Wide*>(a.weight);
    const Wide mean = static_cast<const Wide*>(a.mean)[row];
    const Wide rstd = static_cast<const Wide*>(a.rstd)[row];
    Wide xhat[kItems] = {};
    Wide g[kItems] = {};
    Wide total = 0;
    Wide totalXhat = 0;
    forEachPack<kItems, kWidth>(team, a.columns, [&](int64_t column, int item) {
        Wide scale[kWidth];
        load<kWidth>(sum + column, xhat + item);
        load<kWidth>(dNormed + column, g + item);
        load<kWidth>(weight + column, scale);
        RM_UNROLL
        for (int i = item; i < item + kWidth; ++i) {
            xhat[i] = (xhat[i] - mean) * rstd;
            gradients.weight[i] += g[i] * xhat[i];
            gradients.bias[i] += g[i];
            g[i] *= scale[i - item];
            total += g[i];
            totalXhat += g[i] * xhat[i];
        }
    });
    const Wide meanG = team.sum(total) / static_cast<Wide>(a.columns);
    const Wide meanGXhat = team.sum(totalXhat) / static_cast<Wide>(a.columns);

    const auto* dSum = static_cast<const Wide*>(a.dSum);
    auto* dResidual = static_cast<Wide*>(a.dResidual) + start;
    auto* dDelta = static_cast<Delta*>(a.dDelta);
    forEachPack<kItems, kWidth>(team, a.columns, [&](int64_t column, int item) {
        Wide d[kWidth] = {};
        if (dSum)
            load<kWidth>(dSum + start + column, d);
        RM_UNROLL
        for (int i = 0; i < kWidth; ++i)
            d[i] += rstd * (g[item + i] - meanG - xhat[item + i] * meanGXhat);
        store<kWidth>(d, dResidual + column);
        if (dDelta)
            store<kWidth>(d, dDelta + start + column);
    });
}

/// All rows of one team, every `stride`th from `first` on. Its share of the gradients of weight and
/// bias goes to row `first` of the partial sums, (teams, columns) each.
template <int kItems, int kWidth, class Wide, class Delta, class Normed, class Team>
RM_HD void addLayerNormBackwardRows(const Team& team, const AddLayerNormBackward& a, int64_t first,
                                    int64_t stride) {
    NormGradients<kItems, Wide> gradients;
    for (int64_t row = first; row < a.rows; row += stride)
        addLayerNormBackwardRow<kItems, kWidth, Wide, Delta, Normed>(team, a, row, gradients);
    auto* weights = static_cast<Wide*>(a.weightPartials) + first * a.columns;
    auto* biases = static_cast<Wide*>(a.biasPartials) + first * a.columns;
    forEachPack<kItems, kWidth>(team, a.columns, [&](int64_t column, int item) {
        store<kWidth>(gradients.weight + item, weights + column);
        store<kWidth>(gradients.bias + item, biases + column);
    });
}

} // namespace rm::fused
