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
    // Where nodes before this one are left out, its ranks move down; what node 0 tells of that may
    // come later.
    auto least =
        database.query("SELECT min(first.ranks), max(node.first_rank + node.ranks) FROM run "
                       "JOIN node ON node.run = run.id AND node.node = ?2 "
                       "JOIN node AS first ON first.run = run.id AND first.node = 0 "
                       "WHERE run.id = ?1 AND run.min_nodes > 0 AND ?2 > 0");
    if (least.with(run, nodeIndex).next() && !least.isNull(0))
        ranges.push_back({least.number(0), least.number(1) - least.number(0)});
    return ranges;
}

} // namespace rm
