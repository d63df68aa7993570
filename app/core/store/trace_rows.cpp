// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/trace_rows.h"

#include "shared/enforce.h"
#include "shared/return_if_error.h"
#include "shared/wire/command_kind.h"

#include <zstd.h>

#include <algorithm>

namespace rm {

namespace {

constexpr int kTraceLevel = 3;            ///< of zstd
constexpr int64_t kMostTraces = 1000;     ///< of a run and rank
constexpr int64_t kMostSlices = 1 << 20;  ///< of a rank and trace
constexpr int64_t kMostBytes = 256 << 20; ///< of these, not compressed

std::vector<std::byte> compressed(const std::vector<std::byte>& plain) {
    std::vector<std::byte> out(ZSTD_compressBound(plain.size()));
    const size_t size =
        ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), kTraceLevel);
    RM_ENFORCE(!ZSTD_isError(size));
    out.resize(size);
    return out;
}

/// Of all frames, one behind the other.
Result<std::vector<std::byte>> plainOf(std::span<const std::byte> frames, int64_t bytes) {
    if (bytes < 0 || bytes > kMostBytes)
        return fail(ErrorCode::kCorrupt, "read a trace: its size is impossible");
    std::vector<std::byte> plain(static_cast<size_t>(bytes));
    const size_t size = ZSTD_decompress(plain.data(), plain.size(), frames.data(), frames.size());
    if (ZSTD_isError(size) || size != plain.size())
        return fail(ErrorCode::kCorrupt, "read a trace: its compressed bytes are damaged");
    return plain;
}

std::vector<std::byte> blocksOf(const std::vector<TraceSlice>& slices) {
    std::vector<std::byte> blocks;
    for (size_t at = 0; at < slices.size(); at += kMostSlicesOfRecord)
        appendTraceSlices(blocks, std::span(slices).subspan(
                                      at, std::min(kMostSlicesOfRecord, slices.size() - at)));
    return blocks;
}

int64_t lastStepIn(const std::vector<TraceSlice>& slices) {
    int64_t last = 0;
    for (const TraceSlice& slice : slices)
        if (slice.kind == TraceKind::kStep) // which is over
            last = std::max(last, slice.step);
    return last;
}

} // namespace

std::string TraceRows::add(Database& database, const TracePlace& place, const TraceRecorded& part) {
    if (part.steps < 1 || part.steps > kMostTraceSteps || part.firstStep < 1)
        return "a trace of " + std::to_string(part.steps) + " steps from step " +
               std::to_string(part.firstStep) + " on";
    const auto key = std::tuple(place.run, place.attempt, part.firstStep, part.rank);
    const auto [found, isNew] = m_rows.try_emplace(key);
    Rows& rows = found->second;
    if (isNew) {
        auto known = database.query("SELECT count(*), coalesce(sum(attempt = ?3 AND first_step = "
                                    "?4), 0), coalesce(sum(CASE WHEN attempt = ?3 AND first_step = "
                                    "?4 THEN slices END), 0) FROM trace WHERE run = ?1 AND rank = "
                                    "?2");
        const bool isRead = known.with(place.run, part.rank, place.attempt, part.firstStep).next();
        if (isRead && (known.integer(2) > kMostSlices ||
                       (known.integer(1) == 0 && known.integer(0) >= kMostTraces))) {
            m_rows.erase(found);
            return "more than " + std::to_string(kMostTraces) + " traces of a rank, or more than " +
                   std::to_string(kMostSlices) + " slices in one";
        }
        rows = {place, part};
        return {};
    }
    if (rows.last.wallNs != part.wallNs) { // the run went back to a step before it
        rows.last = part;
        return {};
    }
    std::vector<TraceSlice> slices = std::move(rows.last.slices);
    slices.insert(slices.end(), part.slices.begin(), part.slices.end());
    rows.last = part;
    rows.last.slices = std::move(slices);
    return {};
}

void TraceRows::store(Database& database) {
    for (const auto& [key, rows] : m_rows) {
        const TraceRecorded& part = rows.last;
        const std::vector<std::byte> blocks = blocksOf(part.slices);
        const std::vector<std::byte> data = compressed(blocks);
        const TracePlace& place = rows.place;
        database
            .query("DELETE FROM trace WHERE run = ? AND attempt = ? AND first_step = ? AND rank = "
                   "? AND wall_ns <> ?")
            .with(place.run, place.attempt, part.firstStep, part.rank, part.wallNs)
            .run();
        database
            .query("INSERT INTO trace (run, attempt, first_step, rank, node, steps, last_step, "
                   "wall_ns, clock_ns, on_device, done, slices, bytes, data) "
                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) "
                   "ON CONFLICT (run, attempt, first_step, rank) DO UPDATE SET "
                   "last_step = max(last_step, ?7), done = max(done, ?11), "
                   "slices = slices + ?12, bytes = bytes + ?13, data = CAST(data || ?14 AS BLOB)")
            .with(place.run, place.attempt, part.firstStep, part.rank, place.node, part.steps,
                  lastStepIn(part.slices), part.wallNs, part.clockNs, part.onDevice, part.last,
                  static_cast<int64_t>(part.slices.size()), static_cast<int64_t>(blocks.size()),
                  std::span<const std::byte>(data))
            .run();
    }
    m_rows.clear();
}

std::vector<StoredTrace> tracesOf(Database& database, int64_t run) {
    auto rows = database.query(
        "SELECT attempt, first_step, max(steps), min(last_step), min(wall_ns), count(*), "
        "sum(done), sum(slices) FROM trace WHERE run = ? GROUP BY attempt, first_step "
        "ORDER BY min(wall_ns) DESC");
    rows.with(run);
    std::vector<StoredTrace> traces;
    while (rows.next())
        traces.push_back({{rows.number(0), rows.integer(1)},
                          rows.number(2),
                          rows.integer(3),
                          rows.integer(4),
                          rows.number(5),
                          rows.number(6),
                          rows.integer(7)});
    return traces;
}

Result<std::vector<RankTrace>> readTrace(Database& database, int64_t run, const TraceId& id) {
    auto rows = database.query(
        "SELECT rank, coalesce((SELECT name FROM node WHERE node.run = trace.run AND node.node = "
        "trace.node AND node.attempt <= trace.attempt ORDER BY node.attempt DESC LIMIT 1), ''), "
        "wall_ns, clock_ns, on_device, done, bytes, data FROM trace "
        "WHERE run = ? AND attempt = ? AND first_step = ? ORDER BY rank");
    rows.with(run, id.attempt, id.firstStep);
    std::vector<RankTrace> ranks;
    while (rows.next()) {
        RM_ASSIGN_OR_RETURN(const auto plain, plainOf(rows.blob(7), rows.integer(6)));
        RM_ASSIGN_OR_RETURN(auto slices, readTraceSlices(plain));
        ranks.push_back({rows.number(0), rows.text(1), rows.integer(2), rows.integer(3),
                         rows.number(4) != 0, rows.number(5) != 0, std::move(slices)});
    }
    return ranks;
}

} // namespace rm
