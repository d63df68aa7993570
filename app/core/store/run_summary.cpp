// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/attempt_outcome.h"
#include "app/core/store/queue_rows.h"
#include "app/core/store/reader_impl.h"
#include "app/core/store/store_reader.h"
#include "shared/journal/event_codes.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <algorithm>
#include <cmath>
#include <map>

namespace rm {

namespace {

QStringList tagsOf(const std::string& json) {
    QStringList tags;
    const auto array = QJsonDocument::fromJson(QByteArray::fromStdString(json)).array();
    for (const auto& tag : array)
        tags.append(tag.toString());
    return tags;
}

} // namespace

const char* runStateName(RunStateKind state) {
    switch (state) {
    case RunStateKind::kPreparing:
        return "preparing";
    case RunStateKind::kRunning:
        return "running";
    case RunStateKind::kPaused:
        return "paused";
    case RunStateKind::kFinished:
        return "finished";
    case RunStateKind::kStopped:
        return "stopped";
    case RunStateKind::kFailed:
        return "failed";
    case RunStateKind::kPreempted:
        return "preempted";
    case RunStateKind::kWaiting:
        return "queued"; // as what waits in Slurm's queue is
    }
    return "failed";
}

bool isLive(RunStateKind state) {
    return state == RunStateKind::kPreparing || state == RunStateKind::kRunning;
}

bool hasEnded(RunStateKind state) {
    return !isLive(state) && state != RunStateKind::kWaiting;
}

bool wasKilled(const RunSummary& run) {
    return run.state == RunStateKind::kStopped && run.message.startsWith(kKilledMessage);
}

QStringList liveRunsOn(const std::vector<RunSummary>& runs, const std::string& node) {
    QStringList ids;
    for (const RunSummary& run : runs)
        if (isLive(run.state) &&
            std::ranges::find(run.nodes, node, &RunNode::nodeName) != run.nodes.end())
            ids << run.id;
    return ids;
}

bool isRestarting(const RunSummary& run) {
    return run.state == RunStateKind::kPreparing && run.message.startsWith(kRestartsMessage);
}

bool isQueued(const RunSummary& run) {
    return run.state == RunStateKind::kPreparing && run.message.startsWith(kQueuedMessage);
}

const char* runStateName(const RunSummary& run) {
    return run.held                              ? "held"
           : wasKilled(run)                      ? "killed"
           : isQueued(run) || run.queuePlace > 0 ? "queued"
                                                 : runStateName(run.state);
}

std::string nodesText(const RunSummary& run) {
    std::string text;
    for (const RunNode& node : run.nodes) {
        text += (text.empty() ? "" : ", ") + node.nodeName;
        if (node.ranks > 0 || run.state != RunStateKind::kWaiting) // else they are counted later
            text += ":" + std::to_string(node.ranks);
    }
    return text;
}

std::string stepsText(const RunSummary& run, const std::string& of) {
    return std::to_string(run.step) +
           (run.totalSteps > 0 ? of + std::to_string(run.totalSteps) : std::string());
}

std::vector<RunNode> StoreReader::Impl::nodes(int64_t run) {
    auto rows = database.query("SELECT node, name, ranks, first_rank FROM node WHERE run = ?1 AND "
                               "attempt = (SELECT max(attempt) FROM node WHERE run = ?1) "
                               "ORDER BY node");
    rows.with(run);
    std::vector<RunNode> nodes;
    while (rows.next())
        nodes.push_back({rows.number(0), rows.text(1), rows.number(2), rows.number(3)});
    return nodes;
}

/// Of all runs that wait. It changes with those of others, so that no run's summary keeps it.
std::unordered_map<int64_t, int> StoreReader::Impl::queuePlaces() {
    std::unordered_map<int64_t, int> places;
    for (const int64_t run : queuedRuns(database))
        places.emplace(run, static_cast<int>(places.size()) + 1);
    return places;
}

std::optional<RunSummary> StoreReader::Impl::summary(int64_t run) {
    auto found = storedSummary(run);
    if (!found)
        return found;
    const auto places = queuePlaces();
    const auto place = places.find(run);
    found->queuePlace = place == places.end() ? 0 : place->second;
    return found;
}

std::optional<RunSummary> StoreReader::Impl::storedSummary(int64_t run) {
    auto row =
        database.query("SELECT revision, uuid, name, state, attempt, total_steps, "
                       "created_ns, updated_ns, message, "
                       "notes, tags, parent_run, parent_step, coalesce(deleted_ns, 0), presumed, "
                       "sweep, starred, archived, rung FROM run WHERE id = ?");
    if (!row.with(run).next())
        return std::nullopt;
    const int64_t revision = row.integer(0);
    const auto known = m_known.find(run);
    // A purged run's number may be another's now.
    if (known != m_known.end() && known->second.revision == revision &&
        known->second.summary.id == row.string(1))
        return known->second.summary;
    RunSummary summary = summaryOf(run, row);
    m_known.insert_or_assign(run, Known{revision, summary});
    return summary;
}

RunSummary StoreReader::Impl::summaryOf(int64_t run, Query& row) {
    RunSummary summary;
    summary.id = row.string(1);
    summary.name = row.string(2);
    summary.state = static_cast<RunStateKind>(row.number(3));
    summary.attempt = row.number(4);
    summary.totalSteps = row.integer(5);
    summary.createdNs = row.integer(6);
    summary.updatedNs = row.integer(7);
    summary.message = row.string(8);
    summary.notes = row.string(9);
    summary.tags = tagsOf(row.text(10));
    summary.parentRun = row.string(11);
    summary.parentStep = row.integer(12);
    summary.deletedNs = row.integer(13);
    summary.isPresumed = row.number(14) != 0;
    summary.sweep = row.string(15);
    summary.isStarred = row.number(16) != 0;
    summary.isArchived = row.number(17) != 0;
    summary.rung = row.integer(18);
    auto parent = database.query("SELECT name FROM run WHERE uuid = ?");
    if (parent.with(summary.parentRun).next())
        summary.parentName = parent.string(0);
    summary.nodes = nodes(run);
    for (const RunNode& node : summary.nodes)
        summary.ranks += node.ranks;
    summary.held = summary.state == RunStateKind::kRunning && isHeld(run, summary.attempt);
    if (isLive(summary.state))
        summary.lostNodes = lostNodes(run, summary.nodes);
    else
        summary.unreadNodes = unreadNodes(run, summary);
    auto step = database.query("SELECT step FROM rank WHERE run = ? AND rank = 0 "
                               "AND step NOT NULL ORDER BY attempt DESC LIMIT 1");
    summary.step =
        std::max(summary.parentStep, step.with(run).next() ? step.integer(0) : int64_t{0});
    if (const auto loss =
            lastPoint(ranges(run, {metricName(metric::kTrainLoss), 0}, INT64_MIN, INT64_MAX)))
        summary.loss = loss->value;
    const auto validation =
        ranges(run, {metricName(metric::kValidationLoss), 0}, INT64_MIN, INT64_MAX);
    const auto all = buckets(validation, 1);
    if (!all.empty() && !std::isnan(all[0].min))
        summary.validationLoss = all[0].min;
    return summary;
}

/// Decided by the attempt's last hold, step or continue.
bool StoreReader::Impl::isHeld(int64_t run, int attempt) {
    auto last = database.query("SELECT kind FROM command WHERE run = ? AND attempt = ? AND ok <> 0 "
                               "AND kind IN ('hold', 'step', 'continue') "
                               "ORDER BY wall_ns DESC, step DESC LIMIT 1");
    return last.with(run, attempt).next() && last.text(0) != "continue";
}

std::vector<LostNode> StoreReader::Impl::lostNodes(int64_t run, const std::vector<RunNode>& nodes) {
    std::map<int, std::optional<LostNode>> last;
    auto rows = database.query("SELECT node, code, wall_ns, message FROM event WHERE run = ? AND "
                               "code IN (?, ?) ORDER BY id");
    rows.with(run, kNodeLostEvent, kNodeBackEvent);
    while (rows.next()) {
        std::optional<LostNode>& node = last[rows.number(0)];
        node.reset();
        if (rows.text(1) == kNodeLostEvent)
            node = {{}, rows.integer(2), rows.text(3)};
    }
    std::vector<LostNode> lost;
    for (const RunNode& node : nodes)
        if (const auto& found = last[node.nodeIndex])
            lost.push_back({node.nodeName, found->sinceNs, found->why});
    return lost;
}

std::vector<std::string> StoreReader::Impl::unreadNodes(int64_t run, const RunSummary& summary) {
    std::vector<std::string> nodes;
    auto lost = database.query("SELECT node FROM given_up WHERE run = ? AND NOT ended");
    lost.with(run);
    while (lost.next())
        nodes.push_back(lost.text(0));
    for (const RunNode& node : summary.isPresumed ? summary.nodes : std::vector<RunNode>()) {
        auto end = database.query(
            "SELECT 1 FROM node_end WHERE run = ? AND attempt = ? AND node = ? AND NOT goes_on");
        if (!end.with(run, summary.attempt, node.nodeIndex).next() &&
            std::ranges::find(nodes, node.nodeName) == nodes.end())
            nodes.push_back(node.nodeName);
    }
    return nodes;
}

std::vector<RunSummary> StoreReader::Impl::summaries(const char* query) {
    std::vector<int64_t> ids;
    {
        auto rows = database.query(query);
        while (rows.next())
            ids.push_back(rows.integer(0));
    }
    std::vector<RunSummary> runs;
    const auto places = queuePlaces();
    for (const int64_t id : ids)
        if (auto found = storedSummary(id)) {
            const auto place = places.find(id);
            found->queuePlace = place == places.end() ? 0 : place->second;
            runs.push_back(std::move(*found));
        }
    return runs;
}

std::vector<RunSummary> StoreReader::runs() {
    return m_impl->read("list the runs", [&] {
        return m_impl->summaries("SELECT id FROM run WHERE deleted_ns IS NULL "
                                 "ORDER BY created_ns DESC, id DESC");
    });
}

std::vector<RunSummary> StoreReader::liveRuns() {
    return m_impl->read("list the live runs", [&] {
        return m_impl->summaries("SELECT id FROM run WHERE deleted_ns IS NULL AND state IN (0, 1) "
                                 "ORDER BY created_ns DESC, id DESC");
    });
}

std::vector<RunSummary> StoreReader::runsOfHalvingSweeps() {
    return m_impl->read("list the runs of sweeps", [&] {
        return m_impl->summaries("SELECT id FROM run WHERE sweep <> '' AND sweep IN "
                                 "(SELECT run.sweep FROM run JOIN sweep ON sweep.id = run.sweep "
                                 "WHERE run.sweep <> '' AND sweep.eta > 1 AND run.deleted_ns IS "
                                 "NULL AND run.state IN (0, 1, 2, 7)) ORDER BY created_ns, id");
    });
}

std::vector<RunSummary> StoreReader::trash() {
    return m_impl->read("list the trash", [&] {
        return m_impl->summaries("SELECT id FROM run WHERE deleted_ns IS NOT NULL "
                                 "ORDER BY deleted_ns DESC, id DESC");
    });
}

std::optional<RunSummary> StoreReader::run(const QString& id) {
    return m_impl->read("read a run", [&]() -> std::optional<RunSummary> {
        const auto run = m_impl->runId(id);
        return run ? m_impl->summary(*run) : std::nullopt;
    });
}

namespace {

/// By name or by the start of an id.
Result<RunSummary> chosen(const QString& text, const std::vector<RunSummary>& among,
                          const std::string& attempt) {
    if (text.isEmpty())
        return fail(ErrorCode::kInvalid, attempt + ": give its id, the start of it, or its name");
    if (const auto named = std::ranges::find(among, text, &RunSummary::name); named != among.end())
        return *named;
    std::vector<const RunSummary*> starting;
    for (const RunSummary& run : among)
        if (run.id.startsWith(text))
            starting.push_back(&run);
    if (starting.size() == 1)
        return *starting.front();
    if (starting.empty())
        return fail(ErrorCode::kNotFound, attempt + ": no run has such an id or name");
    QStringList ids;
    for (const RunSummary* run : starting)
        ids.append(run->id);
    return fail(ErrorCode::kInvalid,
                attempt + ": several begin so: " + ids.join(", ").toStdString());
}

} // namespace

Result<RunSummary> StoreReader::resolve(const QString& text) {
    if (const auto whole = run(text))
        return *whole;
    const std::string attempt = "find run \"" + text.toStdString() + "\"";
    auto found = chosen(text, runs(), attempt);
    if (!found && found.error().code == ErrorCode::kNotFound)
        if (const auto deleted = resolveDeleted(text))
            return fail(ErrorCode::kNotFound,
                        attempt +
                            ": it is in the trash; bring it back first: ringmaster trash "
                            "restore " +
                            deleted->id.toStdString());
    return found;
}

Result<RunSummary> StoreReader::resolveDeleted(const QString& text) {
    const auto deleted = trash();
    if (const auto whole = std::ranges::find(deleted, text, &RunSummary::id);
        whole != deleted.end())
        return *whole;
    return chosen(text, deleted, "find run \"" + text.toStdString() + "\" in the trash");
}

} // namespace rm
