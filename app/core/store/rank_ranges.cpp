// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/rank_ranges.h"

#include "app/core/store/attempts.h"

namespace rm {

namespace {

/// From each attempt that was asked for here to the last one that agents began after it, before
/// another was asked for; in between nodes keep their indices. ?1: run, ?2: node, ?3: the last
/// possible attempt, ?4: the node's name, empty: of who has the index now.
constexpr const char* kSpans =
    "WITH launch AS (SELECT DISTINCT node.attempt, coalesce(attempt.skipped, 0) AS skipped "
    "FROM node LEFT JOIN attempt "
    "ON attempt.run = node.run AND attempt.attempt = node.attempt "
    "WHERE node.run = ?1 AND (attempt.asked_ns NOT NULL OR node.attempt = 1)), "
    "span AS (SELECT attempt AS first, coalesce((SELECT next.attempt - 1 - next.skipped "
    "FROM launch AS next WHERE next.attempt > launch.attempt ORDER BY next.attempt LIMIT 1), ?3) "
    "AS last "
    "FROM launch), "
    // Another node may have had this index before.
    "part AS (SELECT node.*, span.first, span.last FROM span JOIN node ON node.run = ?1 "
    "AND node.node = ?2 AND node.attempt BETWEEN span.first AND span.last AND node.name = "
    "coalesce(nullif(?4, ''), "
    "(SELECT name FROM node WHERE run = ?1 AND node = ?2 ORDER BY attempt DESC LIMIT 1))) ";

} // namespace

std::vector<RankRange> ranksOfNode(Database& database, int64_t run, int nodeIndex,
                                   const std::string& name) {
    std::vector<RankRange> ranges;
    const auto read = [&](const std::string& select) {
        auto rows = database.query((kSpans + select).c_str());
        rows.with(run, nodeIndex, INT_MAX, name);
        while (rows.next())
            ranges.push_back({rows.number(0), rows.number(1), rows.number(2), rows.number(3)});
    };
    read("SELECT DISTINCT first_rank, ranks, first, last FROM part ORDER BY 3, 1, 2");
    // Where nodes before this one are left out, its ranks move down; what node 0 tells of that may
    // come later.
    read("SELECT lead.ranks, max(part.first_rank + part.ranks) - lead.ranks, part.first, part.last "
         "FROM run JOIN part ON part.run = run.id JOIN node AS lead ON lead.run = run.id "
         "AND lead.node = 0 AND lead.attempt = part.first "
         "WHERE run.id = ?1 AND run.min_nodes > 0 AND ?2 > 0 GROUP BY part.first");
    return ranges;
}

} // namespace rm
