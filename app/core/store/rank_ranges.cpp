// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/rank_ranges.h"

namespace rm {

std::vector<RankRange> ranksOfNode(Database& database, int64_t run, int nodeIndex) {
    std::vector<RankRange> ranges;
    auto rows = database.query(
        "SELECT DISTINCT first_rank, ranks FROM node WHERE run = ? AND node = ? ORDER BY 1, 2");
    rows.with(run, nodeIndex);
    while (rows.next())
        ranges.push_back({rows.number(0), rows.number(1)});
    return ranges;
}

} // namespace rm
