// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/arguments.h"
#include "trainer/cuda/fused/host_device.h"

/// The second half of a sum over rows: partial sums (groups, columns) become totals (columns).
/// The order of additions is fixed, so the result is deterministic.
namespace rm::fused {

/// Lanes that share the groups of one column.
inline constexpr int kSumLanes = 16;

/// The groups lane, lane + kSumLanes, ... of one column.
template <class Acc>
RM_HD Acc columnShare(const ColumnSum& a, int64_t column, int lane) {
    const auto* partials = static_cast<const Acc*>(a.partials);
    Acc total = 0;
    for (int64_t group = lane; group < a.groups; group += kSumLanes)
        total += partials[group * a.columns + column];
    return total;
}

/// `shares`: columnShare() of each lane, `step` apart.
template <class Acc>
RM_HD void storeColumn(const ColumnSum& a, int64_t column, const Acc* shares, int step) {
    Acc total = 0;
    for (int lane = 0; lane < kSumLanes; ++lane)
        total += shares[lane * step];
    static_cast<Acc*>(a.totals)[column] = total;
}

} // namespace rm::fused
