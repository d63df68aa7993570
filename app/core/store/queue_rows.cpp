// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/queue_rows.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <algorithm>

namespace rm {

namespace {

/// The runs that wait.
constexpr const char* kWaiting =
    "SELECT run.id, run.uuid, nodes, wanted, too_large, why FROM queue JOIN run ON run.id = "
    "queue.run WHERE run.deleted_ns IS NULL AND run.state NOT IN (0, 1) ORDER BY place";

QByteArray toJson(const std::vector<QueuedNode>& nodes) {
    QJsonArray all;
    for (const QueuedNode& node : nodes)
        all.append(QJsonArray{QString::fromStdString(node.node), node.ranks});
    return QJsonDocument(all).toJson(QJsonDocument::Compact);
}

std::vector<QueuedNode> nodesOf(const std::string& json) {
    std::vector<QueuedNode> nodes;
    const auto all = QJsonDocument::fromJson(QByteArray::fromStdString(json)).array();
    for (const auto& each : all)
        nodes.push_back(
            {each.toArray().at(0).toString().toStdString(), each.toArray().at(1).toInt()});
    return nodes;
}

/// Of columns nodes, wanted, too_large, which begin at `first`.
QueuedPlace placeOf(Query& row, int first) {
    return {nodesOf(row.text(first)), row.number(first + 1), row.number(first + 2) != 0};
}

/// All rows, in their order.
std::vector<int64_t> order(Database& database) {
    std::vector<int64_t> runs;
    auto rows = database.query("SELECT run FROM queue ORDER BY place");
    while (rows.next())
        runs.push_back(rows.integer(0));
    return runs;
}

void setOrder(Database& database, const std::vector<int64_t>& runs) {
    for (size_t i = 0; i < runs.size(); ++i)
        database.query("UPDATE queue SET place = ? WHERE run = ?")
            .with(static_cast<int64_t>(i), runs[i])
            .run();
}

} // namespace

std::vector<int64_t> queuedRuns(Database& database) {
    std::vector<int64_t> runs;
    auto rows = database.query(kWaiting);
    while (rows.next())
        runs.push_back(rows.integer(0));
    return runs;
}

std::vector<QueueEntry> queueEntries(Database& database) {
    std::vector<QueueEntry> entries;
    auto rows = database.query(kWaiting);
    while (rows.next())
        entries.push_back({rows.string(1), placeOf(rows, 2), rows.text(5)});
    return entries;
}

std::optional<StoredSweep> sweepCalled(Database& database, const QString& id) {
    auto row = database.query("SELECT nodes, wanted, too_large, eta FROM sweep WHERE id = ?");
    if (!row.with(id).next())
        return std::nullopt;
    return StoredSweep{id, placeOf(row, 0), row.number(3)};
}

void addToQueue(Database& database, int64_t run, const QueuedPlace& place) {
    database
        .query("INSERT OR REPLACE INTO queue (run, place, nodes, wanted, too_large) VALUES "
               "(?, (SELECT coalesce(max(place) + 1, 0) FROM queue), ?, ?, ?)")
        .with(run, toJson(place.nodes).toStdString(), place.wanted, place.launchesTooLarge ? 1 : 0)
        .run();
}

bool takeFromQueue(Database& database, int64_t run) {
    return database.query("DELETE FROM queue WHERE run = ?").with(run).run() > 0;
}

void moveInQueue(Database& database, int64_t run, int place) {
    auto runs = order(database);
    const auto from = std::ranges::find(runs, run);
    if (from == runs.end())
        return;
    runs.erase(from);
    const auto at = std::clamp<int64_t>(place, 0, static_cast<int64_t>(runs.size()));
    runs.insert(runs.begin() + at, run);
    setOrder(database, runs);
}

void addSweep(Database& database, const StoredSweep& sweep, int64_t wallNs) {
    database
        .query("INSERT INTO sweep (id, nodes, wanted, too_large, eta, created_ns) "
               "VALUES (?, ?, ?, ?, ?, ?)")
        .with(sweep.id, toJson(sweep.place.nodes).toStdString(), sweep.place.wanted,
              sweep.place.launchesTooLarge ? 1 : 0, sweep.eta, wallNs)
        .run();
}

} // namespace rm
