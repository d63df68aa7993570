// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/watch/canvas.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm::cli {

/// What the cells of the map of ranks show.
enum class RankMapKind : uint8_t { kBusy, kUtilization, kPhase };
inline constexpr int kRankMapKinds = 3;

/// One rank of the map.
struct RankCell {
    int rank = 0;
    std::string node;
    double busy = -1;        ///< share of the step in which it works itself; below 0: not known
    double utilization = -1; ///< 0 to 1, likewise
    char phase = 0;          ///< phaseLetter(); 0: not known
    bool isSlow = false;     ///< the straggler
    bool isGone = false;     ///< nothing is heard of it
    bool operator==(const RankCell&) const = default;
};

/// One letter for each Phase: 'd', 'f', 'b', 'a', ... ; '?': of a later release.
char phaseLetter(uint8_t phase);

/// How many rows the map takes in that width, with its title.
int rowsOfRankMap(const std::vector<RankCell>& ranks, int width);

/// One cell for each rank, in groups by node. What has no room is said.
void drawRankMap(Canvas& canvas, const Area& area, const std::vector<RankCell>& ranks,
                 RankMapKind kind);

} // namespace rm::cli
