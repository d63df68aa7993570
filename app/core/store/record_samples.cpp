// SPDX-License-Identifier: GPL-3.0-or-later
// The half of RecordWriter that turns samples into rows of lanes.
#include "app/core/store/record_writer.h"
#include "shared/io/clock.h"

#include <algorithm>

namespace rm {

namespace {

MetricDef definitionOf(MetricId id) {
    if (const MetricDef* builtin = findBuiltinMetric(id))
        return *builtin;
    MetricDef unknown;
    unknown.id = id;
    unknown.name = "user/metric_" + std::to_string(id);
    unknown.description = "A metric that the run did not describe.";
    if (id >= metric::kGpuUtilization && id < metric::kFirstUser)
        unknown.clock = MetricClock::kWall; // what a newer agent samples
    return unknown;
}

} // namespace

WriterMemory::Metric RecordWriter::metric(MetricId id) {
    const auto [known, isNew] = m_memory.metrics.try_emplace({m_run, id});
    if (!isNew)
        return known->second;
    auto stored = m_database.query("SELECT id, clock FROM metric WHERE run = ? AND journal_id = ?");
    if (id >= metric::kFirstUser && stored.with(m_run, static_cast<int>(id)).next())
        known->second = {stored.integer(0), MetricClock(stored.number(1))};
    else
        known->second = storeMetric(definitionOf(id));
    return known->second;
}

WriterMemory::Metric RecordWriter::storeMetric(const MetricDef& def) {
    // The newest registration has the number: a resumed run may number its metrics anew.
    m_database
        .query("UPDATE metric SET journal_id = NULL WHERE run = ? AND journal_id = ? AND name <> ?")
        .with(m_run, static_cast<int>(def.id), def.name)
        .run();
    auto stored = m_database.query(
        "INSERT INTO metric (run, journal_id, name, unit, kind, scope, description, clock, "
        "direction, format, ranks, smooth, panel, place, label, brief) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) "
        "ON CONFLICT (run, name) DO UPDATE SET journal_id = ?2, unit = ?4, kind = ?5, scope = ?6, "
        "description = ?7, clock = ?8, direction = ?9, format = ?10, ranks = ?11, smooth = ?12, "
        "panel = ?13, place = ?14, label = ?15, brief = ?16 RETURNING id");
    stored.with(m_run, static_cast<int>(def.id), def.name, def.unit, static_cast<int>(def.kind),
                static_cast<int>(def.scope), def.description, static_cast<int>(def.clock),
                static_cast<int>(def.direction), static_cast<int>(def.format),
                static_cast<int>(def.ranks), def.smooth, def.panel, static_cast<int>(def.place),
                def.label, def.brief);
    int64_t id = 0;
    while (stored.next())
        id = stored.integer(0);
    return {id, def.clock};
}

int64_t RecordWriter::laneOf(int32_t rank, MetricClock clock) {
    const bool timed = clock == MetricClock::kWall;
    const int32_t attempt = timed ? attemptOfNode() : attemptOfRank(rank);
    const auto [known, isNew] = m_memory.lanes.try_emplace({m_run, rank, timed, attempt}, 0);
    if (!isNew)
        return known->second;
    m_database.query("INSERT OR IGNORE INTO lane (run, rank, timed, attempt) VALUES (?, ?, ?, ?)")
        .with(m_run, rank, timed, attempt)
        .run();
    auto stored = m_database.query(
        "SELECT id FROM lane WHERE run = ? AND rank = ? AND timed = ? AND attempt = ?");
    if (stored.with(m_run, rank, timed, attempt).next())
        known->second = stored.integer(0);
    return known->second;
}

/// One row in the lane of each clock that the record has values of.
void RecordWriter::addSamples(const Samples& record) {
    LaneRows* lanes[] = {nullptr, nullptr};
    for (size_t i = 0; i < record.metric.size(); ++i) {
        const WriterMemory::Metric known = metric(record.metric[i]);
        LaneRows*& rows = lanes[static_cast<size_t>(known.clock)];
        if (!rows) {
            rows = &m_rows[laneOf(record.rank, known.clock)];
            addRow(*rows, record.step, record.wallNs);
        }
        set(*rows, known.id, record.value[i]);
    }
    if (lanes[static_cast<size_t>(MetricClock::kStep)])
        m_rankSteps[{attemptOfRank(record.rank), record.rank}] = record.step;
}

void RecordWriter::storeRankSteps() {
    for (const auto& [key, step] : m_rankSteps)
        m_database
            .query("INSERT INTO rank (run, attempt, rank, node, step) VALUES (?1, ?2, ?3, ?4, ?5) "
                   "ON CONFLICT (run, attempt, rank) DO UPDATE SET step = ?5")
            .with(m_run, key.first, key.second, m_node, step)
            .run();
}

Result<void> RecordWriter::storeLanes() {
    for (auto& [lane, rows] : m_rows)
        if (const auto stored = m_lanes.append(lane, std::move(rows)); !stored)
            return stored;
    return {};
}

Result<void> RecordWriter::closeLanes() {
    std::vector<int64_t> lanes;
    for (const int32_t attempt : m_endedAttempts) {
        auto open = m_database.query(
            "SELECT lane.id FROM lane JOIN rank ON rank.run = lane.run AND rank.rank = lane.rank "
            "AND rank.attempt = lane.attempt WHERE lane.run = ? AND lane.attempt <= ? "
            "AND rank.node = ? AND EXISTS (SELECT 1 FROM tail WHERE tail.lane = lane.id)");
        open.with(m_run, attempt, m_node);
        while (open.next())
            lanes.push_back(open.integer(0));
    }
    for (const int64_t lane : lanes)
        if (const auto closed = m_lanes.close(lane); !closed)
            return closed;
    return {};
}

Result<void> RecordWriter::finish() {
    if (m_refused > 0)
        on(Event{-1, -1, wallNowNs(), Severity::kWarning, "record-refused",
                 std::to_string(m_refused) +
                     " records of this node make no sense, first: " + m_whyRefused});
    storeRankSteps();
    if (const auto stored = storeLanes(); !stored)
        return stored;
    if (const auto closed = closeLanes(); !closed)
        return closed;
    if (m_lifecycleChanged)
        followAttempt();
    return {};
}

} // namespace rm
