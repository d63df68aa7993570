// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/host_device.h"

namespace rm::fused {

/// How a row is divided among the lanes of a team: every lane holds kItems of its columns, in packs
/// of kWidth, and has the same columns in every row.
struct RowPlan {
    int lanes = 0; ///< 32: a warp, else a whole block
    int items = 0; ///< per lane; 0: the row is too long
    int width = 0; ///< columns in a pack; divides the number of columns
};

inline constexpr int kWarpLanes = 32;
inline constexpr int kBlockLanes = 256;
inline constexpr int kPackWidth = 4;
inline constexpr int kMostItems = 32;
/// Longer rows do not fit into the registers of a block.
inline constexpr int64_t kLongestRow = int64_t{kBlockLanes} * kMostItems;

/// `aligned`: every row of every array begins at a multiple of kPackWidth elements.
inline RowPlan planRow(int64_t columns, bool aligned) {
    const int width = aligned && columns % kPackWidth == 0 ? kPackWidth : 1;
    for (const int items : {8, 16, 24, kMostItems})
        if (columns <= int64_t{kWarpLanes} * items)
            return {kWarpLanes, items, width};
    return {kBlockLanes, columns <= kLongestRow ? kMostItems : 0, width};
}

/// First column of a lane's pack number `pack`; past the end of the row there is none.
template <int kWidth>
RM_HD int64_t firstColumn(int pack, int lane, int lanes) {
    return (static_cast<int64_t>(pack) * lanes + lane) * kWidth;
}

/// Calls body(first column, first of the lane's items) for each pack that lies within the row.
template <int kItems, int kWidth, class Team, class Body>
RM_HD void forEachPack(const Team& team, int64_t columns, const Body& body) {
    RM_UNROLL
    for (int pack = 0; pack < kItems / kWidth; ++pack) {
        const int64_t column = firstColumn<kWidth>(pack, team.lane(), team.lanes());
        if (column < columns)
            body(column, pack * kWidth);
    }
}

} // namespace rm::fused
