// SPDX-License-Identifier: GPL-3.0-or-later
// StoreReader's queries about a run other than its samples.
#include "app/core/store/attempt_outcome.h"
#include "app/core/store/queue_rows.h"
#include "app/core/store/rank_ranges.h"
#include "app/core/store/reader_impl.h"
#include "app/core/store/requested_rows.h"
#include "app/core/store/store_reader.h"

#include <algorithm>
#include <limits>

namespace rm {

const char* severityName(Severity severity) {
    switch (severity) {
    case Severity::kInfo:
        return "info";
    case Severity::kWarning:
        return "warning";
    case Severity::kError:
        return "error";
    }
    return "info";
}

std::vector<QueueEntry> StoreReader::queue() {
    return m_impl->read("list the queue", [&] { return queueEntries(m_impl->database); });
}

std::optional<StoredSweep> StoreReader::sweep(const QString& id) {
    return m_impl->read("read a sweep", [&] { return sweepCalled(m_impl->database, id); });
}

std::vector<StoredAttempt> StoreReader::attempts(const QString& run) {
    return m_impl->read("list the attempts of a run", [&] {
        std::vector<StoredAttempt> attempts;
        const auto id = m_impl->runId(run);
        auto rows = m_impl->database.query("SELECT attempt, coalesce(start_step, 0), "
                                           "coalesce(started_ns, asked_ns, 0), "
                                           "started_ns IS NOT NULL, start_from, runtime, "
                                           "trainer, data "
                                           "FROM attempt WHERE run = ? ORDER BY attempt");
        rows.with(id);
        std::string runtime;
        AttemptIdentity identity;
        while (rows.next()) {
            if (std::string its = rows.text(5); !its.empty()) {
                runtime = std::move(its);
                identity = {rows.text(6), rows.text(7)};
            }
            attempts.push_back({rows.number(0), rows.integer(1), rows.integer(2),
                                rows.number(3) != 0, std::nullopt, rows.text(4), runtime,
                                identity});
        }
        for (StoredAttempt& attempt : attempts)
            attempt.ended = attemptEnd(m_impl->database, *id, attempt.attempt);
        return attempts;
    });
}

std::vector<StoredRank> StoreReader::ranks(const QString& run) {
    return m_impl->read("list the ranks of a run", [&] {
        std::vector<StoredRank> ranks;
        const auto id = m_impl->runId(run);
        auto rows = m_impl->database.query(
            "SELECT rank, node, pid, coalesce(step, 0), exited, attempt, exit_code, signal, "
            "exited_ns, message, log_tail FROM rank WHERE run = ?1 AND attempt = "
            "(SELECT max(rank.attempt) FROM rank JOIN run ON run.id = rank.run "
            "WHERE rank.run = ?1 AND rank.attempt <= run.attempt) ORDER BY rank");
        rows.with(id);
        while (rows.next()) {
            StoredRank rank{rows.number(0), rows.number(1), rows.integer(2), rows.integer(3), {}};
            if (rows.number(4))
                rank.exited =
                    RankExited{rows.number(5),  rank.rank,    rows.number(6), rows.number(7),
                               rows.integer(8), rows.text(9), rows.text(10)};
            ranks.push_back(std::move(rank));
        }
        return ranks;
    });
}

std::vector<StoredEvent> StoreReader::events(const QString& run, int limit) {
    return m_impl->read("list the events of a run", [&] {
        std::vector<StoredEvent> events;
        const auto id = m_impl->runId(run);
        auto rows = m_impl->database.query(
            "SELECT id, node, attempt, rank, step, wall_ns, severity, code, message FROM event "
            "WHERE run = ? ORDER BY id DESC LIMIT ?");
        rows.with(id, limit);
        while (rows.next())
            events.push_back(
                {rows.integer(0), rows.number(1),
                 Event{rows.number(3), rows.integer(4), rows.integer(5),
                       static_cast<Severity>(rows.number(6)), rows.text(7), rows.text(8)},
                 rows.number(2)});
        return events;
    });
}

std::vector<StoredCommand> StoreReader::commands(const QString& run) {
    return m_impl->read("list the commands of a run", [&] {
        std::vector<StoredCommand> commands;
        const auto id = m_impl->runId(run);
        auto rows = m_impl->database.query(
            "SELECT uuid, kind, step, wall_ns, ok, message, attempt FROM command WHERE run = ? "
            "ORDER BY wall_ns, step");
        rows.with(id);
        while (rows.next())
            commands.push_back({CommandApplied{rows.text(0), rows.text(1), rows.integer(2),
                                               rows.integer(3), rows.number(4) != 0, rows.text(5)},
                                rows.number(6)});
        return commands;
    });
}

std::vector<RequestedCommand> StoreReader::requestedCommands(const QString& run, int limit) {
    return m_impl->read("list what was asked of a run", [&] {
        const int64_t id = m_impl->runId(run).value_or(-1);
        return rm::requestedCommands(m_impl->database, id, false, limit);
    });
}

std::vector<RequestedCommand> StoreReader::openCommands(const QString& run) {
    constexpr int kAll = std::numeric_limits<int>::max();
    return m_impl->read("list what was asked of a run", [&] {
        const int64_t id = m_impl->runId(run).value_or(-1);
        auto open = rm::requestedCommands(m_impl->database, id, true, kAll);
        std::ranges::reverse(open);
        return open;
    });
}

std::vector<RunNode> StoreReader::wholePlaces(const QString& run) {
    return m_impl->read("list where the whole of a run was", [&] {
        auto rows = m_impl->database.query(
            "SELECT node, name, ranks, first_rank FROM node WHERE run = ?1 AND attempt = "
            "coalesce((SELECT max(attempt) FROM (SELECT attempt FROM node WHERE run = ?1 GROUP BY "
            "attempt HAVING min(ranks) > 0)), 1) ORDER BY node");
        rows.with(m_impl->runId(run));
        std::vector<RunNode> places;
        while (rows.next())
            places.push_back({rows.number(0), rows.text(1), rows.number(2), rows.number(3)});
        return places;
    });
}

std::map<int, std::vector<RunNode>> StoreReader::placesByAttempt(const QString& run) {
    return m_impl->read("list where each attempt of a run was", [&] {
        std::map<int, std::vector<RunNode>> places;
        auto rows =
            m_impl->database.query("SELECT attempt, node, name, ranks, first_rank FROM node "
                                   "WHERE run = ? ORDER BY attempt, node");
        rows.with(m_impl->runId(run));
        while (rows.next())
            places[rows.number(0)].push_back(
                RunNode{rows.number(1), rows.text(2), rows.number(3), rows.number(4)});
        return places;
    });
}

std::vector<RunNode> StoreReader::places(const QString& run) {
    return m_impl->read("list where a run was", [&] {
        std::vector<RunNode> places;
        const auto id = m_impl->runId(run);
        auto rows = m_impl->database.query("SELECT node, name, ranks, first_rank FROM node "
                                           "WHERE run = ? ORDER BY attempt DESC, node");
        rows.with(id);
        while (rows.next()) {
            RunNode place{rows.number(0), rows.text(1), rows.number(2), rows.number(3)};
            const bool isKnown = std::ranges::any_of(places, [&](const RunNode& other) {
                return other.nodeIndex == place.nodeIndex && other.nodeName == place.nodeName;
            });
            if (!isKnown)
                places.push_back(std::move(place));
        }
        return places;
    });
}

std::vector<std::pair<std::string, uint64_t>> StoreReader::cursors(const QString& run,
                                                                   int nodeIndex) {
    return m_impl->read("read the cursors of a run", [&] {
        std::vector<std::pair<std::string, uint64_t>> cursors;
        const auto id = m_impl->runId(run);
        auto rows = m_impl->database.query(
            "SELECT file, offset FROM cursor WHERE run = ? AND node = ? ORDER BY file");
        rows.with(id, nodeIndex);
        while (rows.next())
            cursors.emplace_back(rows.text(0), static_cast<uint64_t>(rows.integer(1)));
        return cursors;
    });
}

std::vector<RankRange> StoreReader::rankRanges(const QString& run, int nodeIndex,
                                               const std::string& name) {
    return m_impl->read("read the nodes of a run", [&] {
        return ranksOfNode(m_impl->database, m_impl->runId(run).value_or(-1), nodeIndex, name);
    });
}

std::vector<int> StoreReader::indicesOf(const QString& run, const std::string& name) {
    return m_impl->read("read the nodes of a run", [&] {
        std::vector<int> indices;
        auto rows = m_impl->database.query(
            "SELECT DISTINCT node FROM node WHERE run = ?1 AND name = ?2 ORDER BY node");
        rows.with(m_impl->runId(run).value_or(-1), name);
        while (rows.next())
            indices.push_back(rows.number(0));
        return indices;
    });
}

int StoreReader::newestAttempt(const QString& run) {
    return m_impl->read("read the attempts of a run", [&] {
        auto row = m_impl->database.query(
            "SELECT max(attempt) FROM (SELECT attempt FROM run WHERE id = ?1 "
            "UNION ALL SELECT attempt FROM attempt WHERE run = ?1 "
            "UNION ALL SELECT attempt FROM rank WHERE run = ?1 "
            "UNION ALL SELECT attempt FROM node_end WHERE run = ?1)");
        return row.with(m_impl->runId(run).value_or(-1)).next() && !row.isNull(0) ? row.number(0)
                                                                                  : 0;
    });
}

std::vector<DeclaredLostNode> StoreReader::declaredLost(const QString& run) {
    return m_impl->read("read which nodes were declared lost", [&] {
        std::vector<DeclaredLostNode> nodes;
        auto rows = m_impl->database.query(
            "SELECT run.uuid, given_up.node FROM given_up JOIN run ON run.id = given_up.run "
            "WHERE NOT ended AND run.deleted_ns IS NULL AND (?1 = '' OR run.uuid = ?1) "
            "ORDER BY given_up.wall_ns");
        rows.with(run);
        while (rows.next())
            nodes.push_back({rows.string(0), rows.text(1)});
        return nodes;
    });
}

bool StoreReader::mustSkipAttempts(const QString& run) {
    return m_impl->read("read whether nodes were declared lost", [&] {
        auto rows = m_impl->database.query("SELECT 1 FROM given_up WHERE run = ?");
        return rows.with(m_impl->runId(run).value_or(-1)).next();
    });
}

} // namespace rm
