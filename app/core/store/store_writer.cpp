// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_writer.h"

#include "app/core/settings/private_files.h"
#include "app/core/store/attempt_outcome.h"
#include "app/core/store/database.h"
#include "app/core/store/lock_file.h"
#include "app/core/store/log_severity.h"
#include "app/core/store/queue_rows.h"
#include "app/core/store/record_writer.h"
#include "app/core/store/recover.h"
#include "app/core/store/requested_rows.h"
#include "app/core/store/schema.h"
#include "app/core/store/series.h"
#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "shared/spec/run_spec.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_edit.h"

#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

namespace rm {

namespace {

constexpr int kLinesFilledAtOnce = 500;
constexpr int kWalPages = 8192; ///< 32 MiB, then SQLite folds the WAL into the file

Result<void> configure(Database& database, const std::string& path) {
    return guarded("open " + path, path, [&]() -> Result<void> {
        SQLite::Database& connection = database.connection();
        connection.exec("PRAGMA journal_mode = WAL");
        connection.exec("PRAGMA synchronous = NORMAL");
        connection.exec("PRAGMA mmap_size = 0");
        connection.exec("PRAGMA foreign_keys = ON");
        connection.exec("PRAGMA cache_size = -65536");
        connection.exec("PRAGMA wal_autocheckpoint = " + std::to_string(kWalPages));
        return {};
    });
}

} // namespace

struct StoreWriter::Impl {
    Impl(LockFile held, const std::string& file)
        : lock(std::move(held))
        , path(file)
        , database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        , streams(database) {
        if (::stat(path.c_str(), &place) != 0)
            place = {};
    }

    /// Runs `body` in a transaction: committed when it gives a value, else rolled back.
    Result<void> transact(const std::string& attempt, const std::function<Result<void>()>& body) {
        const std::string& file = database.connection().getFilename();
        const auto done = guarded(attempt, file, [&]() -> Result<void> {
            RM_RETURN_IF_ERROR(checkPlace(attempt));
            SQLite::Transaction transaction(database.connection(),
                                            SQLite::TransactionBehavior::IMMEDIATE);
            if (auto result = body(); !result)
                return result;
            transaction.commit();
            return {};
        });
        if (!done) {
            streams.forget();
            memory = {};
        }
        return done;
    }

    /// kUnavailable: what is written would go to a file that nobody finds, as its folder was
    /// deleted, or is not mounted now.
    Result<void> checkPlace(const std::string& attempt) const {
        struct stat now {};
        if (::stat(path.c_str(), &now) == 0 && now.st_ino == place.st_ino &&
            now.st_dev == place.st_dev)
            return {};
        return fail(ErrorCode::kUnavailable,
                    attempt + ": " + path +
                        " is not there any more: bring it back, or close "
                        "Ringmaster and open it again; nodes keep what they "
                        "have until then");
    }

    Result<int64_t> findRun(const QString& run) {
        auto query = database.query("SELECT id FROM run WHERE uuid = ?");
        if (query.with(run).next())
            return query.integer(0);
        return fail(ErrorCode::kNotFound, "find run " + run.toStdString() + ": there is none");
    }

    void setState(int64_t run, RunStateKind state, const std::string& message, bool isPresumed) {
        database.query("UPDATE run SET state = ?, message = ?, presumed = ? WHERE id = ?")
            .with(static_cast<int>(state), message, isPresumed ? 1 : 0, run)
            .run();
    }

    Result<void> touch(int64_t run) {
        database.query("UPDATE run SET updated_ns = ?, revision = revision + 1 WHERE id = ?")
            .with(wallNowNs(), run)
            .run();
        return {};
    }

    /// One UPDATE of a run's row; `sql` has ?1 for the value, ?2 for the run.
    template <class Value>
    Result<void> edit(const QString& run, const char* sql, const Value& value) {
        return transact("edit run " + run.toStdString(), [&]() -> Result<void> {
            RM_ASSIGN_OR_RETURN(const auto id, findRun(run));
            database.query(sql).with(value, id).run();
            return touch(id);
        });
    }

    void insertNodes(int64_t run, int attempt, const std::vector<RunNode>& nodes);
    int64_t insertRun(const NewRun& run, RunStateKind state);
    bool isIn(int64_t run, RunStateKind state);
    Result<int64_t> findWaiting(const QString& run);
    void forgetLogsOfOthers(int64_t run, int attempt, const RunNode& node);
    void storeLog(int64_t run, const IngestBatch& batch, RecordWriter& records);
    bool fillLogSearch();
    std::string nodeOf(int64_t run, const IngestBatch& batch);
    int64_t& logBytes(int64_t run, int rank);
    void cutLog(int64_t run, int rank);
    void lapse(int64_t run, const std::string& why);
    Result<void> forgetFolder(int64_t run, const std::string& node, const std::string& folder);
    void noteBranch(int64_t id, const NewRun& run, int64_t wallNs);
    Result<void> checkCursors(int64_t run, const IngestBatch& batch);
    Result<void> apply(int64_t run, const IngestBatch& batch);
    uint64_t cursor(int64_t run, int node, const std::string& file);
    std::string takenBy(int64_t run, const QString& name);
    std::string specCalled(int64_t run, std::string name);

    LockFile lock; ///< first: freed last
    std::string path;
    struct stat place {}; ///< when it was opened
    Database database;
    StreamWriter streams;
    WriterMemory memory;
};

/// The logs in the place of a node that another one takes are others.
void StoreWriter::Impl::forgetLogsOfOthers(int64_t run, int attempt, const RunNode& node) {
    auto before = database.query("SELECT name FROM node WHERE run = ? AND node = ? AND attempt < ? "
                                 "ORDER BY attempt DESC LIMIT 1");
    if (before.with(run, node.nodeIndex, attempt).next() && before.text(0) != node.nodeName)
        database.query("DELETE FROM cursor WHERE run = ? AND node = ? AND file LIKE 'log/%'")
            .with(run, node.nodeIndex)
            .run();
}

void StoreWriter::Impl::insertNodes(int64_t run, int attempt, const std::vector<RunNode>& nodes) {
    database.query("DELETE FROM node WHERE run = ? AND attempt = ?").with(run, attempt).run();
    for (const RunNode& node : nodes) {
        forgetLogsOfOthers(run, attempt, node);
        database
            .query("INSERT INTO node (run, attempt, node, name, ranks, first_rank) "
                   "VALUES (?, ?, ?, ?, ?, ?)")
            .with(run, attempt, node.nodeIndex, node.nodeName, node.ranks, node.firstRank)
            .run();
    }
}

uint64_t StoreWriter::Impl::cursor(int64_t run, int node, const std::string& file) {
    auto query =
        database.query("SELECT offset FROM cursor WHERE run = ? AND node = ? AND file = ?");
    return query.with(run, node, file).next() ? static_cast<uint64_t>(query.integer(0)) : 0;
}

Result<void> StoreWriter::Impl::checkCursors(int64_t run, const IngestBatch& batch) {
    const auto refuse = [&](const std::string& file, uint64_t stored, uint64_t given) {
        return fail(ErrorCode::kInternal, file + " is stored up to byte " + std::to_string(stored) +
                                              ", not " + std::to_string(given));
    };
    for (const auto& [file, offset] : batch.previous)
        if (const uint64_t stored = cursor(run, batch.nodeIndex, file); stored != offset)
            return refuse(file, stored, offset);
    bool advances = batch.cursors.empty() || (batch.records.empty() && batch.logLines.empty());
    for (const auto& [file, offset] : batch.cursors) {
        const uint64_t stored = cursor(run, batch.nodeIndex, file);
        // A log that was cut off on its node goes on where it ends.
        const bool mayShrink = file.starts_with("log/") && !batch.previous.empty();
        if (offset < stored && !mayShrink)
            return refuse(file, stored, offset);
        advances = advances || offset != stored;
    }
    // The report of a damaged file comes without new bytes.
    const auto isEvent = [](const Record& record) { return std::holds_alternative<Event>(record); };
    const bool eventsOnly =
        batch.logLines.empty() && std::all_of(batch.records.begin(), batch.records.end(), isEvent);
    if (!advances && !eventsOnly)
        return fail(ErrorCode::kInternal, "its records are stored already");
    return {};
}

Result<void> StoreWriter::Impl::apply(int64_t run, const IngestBatch& batch) {
    RecordWriter records(database, streams, memory, run, batch.nodeIndex, batch.nodeName);
    for (size_t at = 0; at < batch.records.size(); ++at)
        records.apply(batch.records[at], at < batch.attempts.size() ? batch.attempts[at] : 0);
    if (const auto finished = records.finish(); !finished)
        return finished;
    storeLog(run, batch, records);
    for (const auto& [file, offset] : batch.cursors)
        database
            .query("INSERT INTO cursor (run, node, file, offset) VALUES (?1, ?2, ?3, ?4) "
                   "ON CONFLICT (run, node, file) DO UPDATE SET offset = ?4")
            .with(run, batch.nodeIndex, file, offset)
            .run();
    return touch(run);
}

void StoreWriter::Impl::storeLog(int64_t run, const IngestBatch& batch, RecordWriter& records) {
    const int64_t now = wallNowNs();
    const std::string node = batch.logLines.empty() ? std::string() : nodeOf(run, batch);
    std::set<int> grown;
    for (const NewLogLine& line : batch.logLines) {
        if (!records.owns(line.rank))
            continue;
        int64_t& bytes = logBytes(run, line.rank); // before it is one of those that it counts
        const bool isStamped = line.wallNs > 0;
        database
            .query("INSERT INTO log_line (run, rank, wall_ns, text, stamped, severity, node) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?)")
            .with(run, line.rank, isStamped ? line.wallNs : now, line.text, isStamped,
                  static_cast<int>(severityOf(line.text)), node)
            .run();
        bytes += static_cast<int64_t>(line.text.size());
        grown.insert(line.rank);
    }
    for (const int rank : grown)
        if (logBytes(run, rank) > kMostStoredLog)
            cutLog(run, rank);
}

/// What people call the node that tells it.
std::string StoreWriter::Impl::nodeOf(int64_t run, const IngestBatch& batch) {
    if (!batch.nodeName.empty())
        return batch.nodeName;
    auto row = database.query("SELECT name FROM node WHERE run = ? AND node = ? "
                              "ORDER BY attempt DESC LIMIT 1");
    return row.with(run, batch.nodeIndex).next() ? row.text(0) : std::string();
}

/// How much there is of a rank's log.
int64_t& StoreWriter::Impl::logBytes(int64_t run, int rank) {
    const auto [known, isNew] = memory.logBytes.try_emplace({run, rank}, 0);
    if (isNew) {
        auto stored = database.query("SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) "
                                     "FROM log_line WHERE run = ? AND rank = ?");
        if (stored.with(run, rank).next())
            known->second = stored.integer(0);
    }
    return known->second;
}

/// Leaves out the oldest quarter, and says so in the place of its last line.
void StoreWriter::Impl::cutLog(int64_t run, int rank) {
    int64_t& bytes = logBytes(run, rank);
    int64_t last = 0, wallNs = 0, stamped = 0;
    std::string node;
    {
        auto oldest = database.query("SELECT id, length(CAST(text AS BLOB)), wall_ns, stamped, "
                                     "node FROM log_line WHERE run = ? AND rank = ? "
                                     "ORDER BY wall_ns, id");
        oldest.with(run, rank);
        while (bytes > kMostStoredLog / 4 * 3 && oldest.next()) {
            last = oldest.integer(0);
            bytes -= oldest.integer(1);
            wallNs = oldest.integer(2);
            stamped = oldest.integer(3);
            node = oldest.text(4);
        }
    }
    // The line of an earlier cut is one of them.
    const int cut = database
                        .query("DELETE FROM log_line WHERE run = ?1 AND rank = ?2 AND "
                               "(wall_ns < ?3 OR (wall_ns = ?3 AND id <= ?4))")
                        .with(run, rank, wallNs, last)
                        .run();
    database
        .query("INSERT INTO log_cut (run, rank, lines) VALUES (?1, ?2, ?3) ON CONFLICT (run, rank) "
               "DO UPDATE SET lines = lines + ?3 - 1")
        .with(run, rank, cut)
        .run();
    auto counted = database.query("SELECT lines FROM log_cut WHERE run = ? AND rank = ?");
    const int64_t lines = counted.with(run, rank).next() ? counted.integer(0) : cut;
    const std::string words = "--- " + std::to_string(lines) +
                              " lines before this one are left out here, as there were more than " +
                              std::to_string(kMostStoredLog >> 20) +
                              " MiB of this rank; its node may still have them ---";
    database
        .query("INSERT INTO log_line (id, run, rank, wall_ns, text, stamped, node) "
               "VALUES (?, ?, ?, ?, ?, ?, ?)")
        .with(last, run, rank, wallNs, words, stamped, node)
        .run();
    bytes += static_cast<int64_t>(words.size());
}

bool StoreWriter::Impl::fillLogSearch() {
    int64_t filled = 0, unrated = 0;
    if (auto row = database.query("SELECT filled, unrated FROM log_search"); row.next()) {
        filled = row.integer(0);
        unrated = row.integer(1);
    }
    std::vector<std::pair<int64_t, Severity>> severe;
    int lines = 0;
    {
        auto rows = database.query("SELECT id, text FROM log_line WHERE id > ?1 "
                                   "ORDER BY id LIMIT ?2");
        rows.with(filled, kLinesFilledAtOnce);
        for (; rows.next(); ++lines) {
            filled = rows.integer(0);
            const std::string text = rows.text(1);
            database.query("INSERT INTO log_text (rowid, text) VALUES (?, ?)")
                .with(filled, text)
                .run();
            const Severity severity = filled <= unrated ? severityOf(text) : Severity::kInfo;
            if (severity != Severity::kInfo)
                severe.emplace_back(filled, severity);
        }
    }
    for (const auto& [id, severity] : severe)
        database.query("UPDATE log_line SET severity = ? WHERE id = ?")
            .with(static_cast<int>(severity), id)
            .run();
    if (lines > 0)
        database.query("UPDATE log_search SET filled = ?").with(filled).run();
    return lines == kLinesFilledAtOnce;
}

void StoreWriter::Impl::lapse(int64_t run, const std::string& why) {
    database
        .query("UPDATE asked_command SET state = ?, answered_ns = ?, answer = ? "
               "WHERE run = ? AND state IN (0, 1)")
        .with(static_cast<int>(RequestedState::kLapsed), wallNowNs(), why, run)
        .run();
}

StoreWriter::StoreWriter() = default;
StoreWriter::~StoreWriter() = default;

namespace {} // namespace

Result<std::unique_ptr<StoreWriter>> StoreWriter::open(const QString& path) {
    const std::string file = path.toStdString();
    const auto withFullDisk = [&file](const Error& error) {
        return error.code == ErrorCode::kExhausted ? orDiskFull("open " + file, file, error)
                                                   : error;
    };
    RM_RETURN_IF_ERROR(
        makeFolders(QFileInfo(path).absolutePath().toStdString()).map_error(withFullDisk));
    RM_ASSIGN_OR_RETURN(auto lock, LockFile::take(lockOf(path), file).map_error(withFullDisk));
    protectFile(lockOf(path));
    if (const QFileInfo rest(path + "-wal"); QFileInfo(path).size() == 0 && rest.size() > 0)
        return fail(ErrorCode::kCorrupt,
                    "open " + file + ": it is gone or empty, while " +
                        rest.filePath().toStdString() +
                        " still has what came last; bring back a copy of the file, or move that "
                        "away, and the list of runs begins anew");
    if (QFile::exists(path) && QFileInfo(path).size() == 0)
        return fail(ErrorCode::kCorrupt, emptyFileWords("open", path));
    const bool isNew = !QFile::exists(path);
    // SQLite would go by the umask.
    RM_RETURN_IF_ERROR(openFile(file, O_RDWR | O_CREAT, 0600).map_error(withFullDisk));
    auto opened = guarded("open " + file, file, [&]() -> Result<std::unique_ptr<StoreWriter>> {
        std::unique_ptr<StoreWriter> writer(new StoreWriter);
        writer->m_impl = std::make_unique<Impl>(std::move(lock), file);
        Database& database = writer->m_impl->database;
        const auto steps = schemaSteps();
        RM_RETURN_IF_ERROR(upgradeSchema(database, file, steps));
        RM_RETURN_IF_ERROR(configure(database, file));
        for (const char* part : {"", "-wal", "-shm"})
            protectFile(file + part);
        return writer;
    });
    if (!opened && isNew && QFileInfo(path).size() == 0)
        QFile::remove(path); // or the next start would take it for one that was emptied
    return opened;
}

/// Stores the branch event here, as the run's nodes do not know its parent.
void StoreWriter::Impl::noteBranch(int64_t id, const NewRun& run, int64_t wallNs) {
    auto parent = database.query("SELECT name FROM run WHERE uuid = ?");
    const std::string name =
        parent.with(run.parentRun).next() ? parent.text(0) : run.parentRun.toStdString();
    database
        .query("INSERT INTO event (run, attempt, node, rank, step, wall_ns, severity, code, "
               "message) VALUES (?1, 1, 0, -1, ?2, ?3, ?4, 'branched', ?5)")
        .with(id, run.parentStep, wallNs, static_cast<int>(Severity::kInfo),
              "branched from " + name + " at " + std::to_string(run.parentStep))
        .run();
}

Result<void> StoreWriter::announce(const std::string& place) {
    return m_impl->lock.announce(place);
}

bool StoreWriter::isHeld(const QString& path) {
    return LockFile::isHeld(lockOf(path));
}

std::string StoreWriter::announced(const QString& path) {
    return LockFile::announced(lockOf(path));
}

int64_t StoreWriter::Impl::insertRun(const NewRun& run, RunStateKind state) {
    const int64_t now = wallNowNs();
    const auto spec = parseRunSpec(run.specToml, "spec");
    database
        .query("INSERT INTO run (uuid, name, state, spec, total_steps, parent_run, parent_step, "
               "created_ns, updated_ns, min_nodes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)")
        .with(run.id, run.name, static_cast<int>(state), run.specToml,
              spec ? knownSteps(*spec).value_or(0) : 0, run.parentRun, run.parentStep, now,
              spec ? spec->launch.minNodes : 0)
        .run();
    const int64_t id = database.connection().getLastInsertRowid();
    insertNodes(id, 1, run.nodes);
    if (!run.parentRun.isEmpty())
        noteBranch(id, run, now);
    return id;
}

bool StoreWriter::Impl::isIn(int64_t run, RunStateKind state) {
    auto row = database.query("SELECT 1 FROM run WHERE id = ? AND state = ?");
    return row.with(run, static_cast<int>(state)).next();
}

Result<int64_t> StoreWriter::Impl::findWaiting(const QString& run) {
    RM_ASSIGN_OR_RETURN(const auto id, findRun(run));
    if (database.query("SELECT 1 FROM queue WHERE run = ?").with(id).next())
        return id;
    return fail(ErrorCode::kNotFound,
                "find run " + run.toStdString() + " in the queue: it does not wait there");
}

Result<void> StoreWriter::createRun(const NewRun& run) {
    return m_impl->transact("create run " + run.id.toStdString(), [&]() -> Result<void> {
        const auto known = m_impl->findRun(run.id);
        if (!known) {
            m_impl->insertRun(run, RunStateKind::kPreparing);
            return {};
        }
        if (!m_impl->isIn(*known, RunStateKind::kWaiting))
            return fail(ErrorCode::kInvalid,
                        "create run " + run.id.toStdString() + ": it exists already");
        m_impl->setState(*known, RunStateKind::kPreparing, {}, false);
        m_impl->insertNodes(*known, 1, run.nodes);
        return m_impl->touch(*known);
    });
}

Result<void> StoreWriter::enqueue(const std::vector<NewRun>& runs, const QueuedPlace& place,
                                  const std::optional<StoredSweep>& sweep) {
    return m_impl->transact("put runs into the queue", [&]() -> Result<void> {
        Database& database = m_impl->database;
        if (sweep)
            addSweep(database, *sweep, wallNowNs());
        for (const NewRun& run : runs) {
            if (m_impl->findRun(run.id))
                return fail(ErrorCode::kInvalid,
                            "create run " + run.id.toStdString() + ": it exists already");
            const int64_t id = m_impl->insertRun(run, RunStateKind::kWaiting);
            addToQueue(database, id, place);
            if (sweep)
                database.query("UPDATE run SET sweep = ? WHERE id = ?").with(sweep->id, id).run();
        }
        return {};
    });
}

Result<void> StoreWriter::enqueueAgain(const QString& run, const QueuedPlace& place) {
    return m_impl->transact("put " + run.toStdString() + " into the queue", [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        addToQueue(m_impl->database, id, place);
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::dequeue(const QString& run, RunStateKind as, const QString& message) {
    return m_impl->transact("take " + run.toStdString() + " from the queue", [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        takeFromQueue(m_impl->database, id);
        if (m_impl->isIn(id, RunStateKind::kWaiting))
            m_impl->setState(id, as, message.toStdString(), false);
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::moveInQueue(const QString& run, int place) {
    return m_impl->transact("move " + run.toStdString() + " in the queue", [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findWaiting(run));
        rm::moveInQueue(m_impl->database, id, place);
        return {};
    });
}

Result<void> StoreWriter::requeue(const QueueEntry& entry, const std::vector<QString>& behind,
                                  const std::string& why) {
    const QString& run = entry.run;
    return m_impl->transact("put " + run.toStdString() + " into the queue", [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        Database& database = m_impl->database;
        if (m_impl->isIn(id, RunStateKind::kPreparing) || m_impl->isIn(id, RunStateKind::kRunning))
            return {}; // its ranks may live: the next engine looks for them
        if (!m_impl->findWaiting(run)) {
            addToQueue(database, id, entry.place);
            const auto queue = queueEntries(database);
            const auto next = std::ranges::find_if(queue, [&](const QueueEntry& each) {
                return std::ranges::find(behind, each.run) != behind.end();
            });
            rm::moveInQueue(database, id, static_cast<int>(next - queue.begin()));
        }
        database.query("UPDATE queue SET why = ? WHERE run = ?").with(why, id).run();
        if (!database.query("SELECT 1 FROM rank WHERE run = ?").with(id).next())
            m_impl->setState(id, RunStateKind::kWaiting, {}, false);
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::requeueInterrupted() {
    return m_impl->transact("put runs into the queue again", [&]() -> Result<void> {
        m_impl->database
            .query(
                "UPDATE run SET state = ?, message = '', revision = revision + 1 WHERE state = 0 "
                "AND id IN (SELECT run FROM queue) AND id NOT IN (SELECT run FROM rank)")
            .with(static_cast<int>(RunStateKind::kWaiting))
            .run();
        return {};
    });
}

Result<void> StoreWriter::applyVerdicts(const std::vector<SweepVerdict>& verdicts) {
    return m_impl->transact("go on with sweeps", [&]() -> Result<void> {
        for (const SweepVerdict& verdict : verdicts) {
            RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(verdict.run));
            const int changed =
                m_impl->database
                    .query("UPDATE run SET rung = ?1 WHERE id = ?2 AND state = ?3 AND "
                           "abs(rung) < abs(?1)")
                    .with(verdict.goesOn ? verdict.rung : -verdict.rung, id,
                          static_cast<int>(RunStateKind::kPaused))
                    .run();
            if (changed == 0)
                continue;
            if (verdict.goesOn)
                addToQueue(m_impl->database, id, verdict.place);
            else
                m_impl->setState(id, RunStateKind::kStopped, verdict.message.toStdString(), false);
            RM_RETURN_IF_ERROR(m_impl->touch(id));
        }
        return {};
    });
}

Result<void> StoreWriter::setState(const QString& run, RunStateKind state, const QString& message,
                                   bool isPresumed) {
    return m_impl->transact("edit run " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        m_impl->setState(id, state, message.toStdString(), isPresumed);
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::presumeEnd(const QString& run, const std::string& why) {
    return m_impl->transact("edit run " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        Database& database = m_impl->database;
        const auto attempt =
            database.query("SELECT attempt FROM run WHERE id = ?").with(id).firstInteger();
        const auto end = presumedEnd(database, id, static_cast<int>(attempt.value_or(1)));
        m_impl->setState(id, end ? stateOf(end->outcome) : RunStateKind::kFailed,
                         end ? end->message : why, true);
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::setQueued(const QString& run, const QString& why) {
    return m_impl->transact("edit run " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        m_impl->database.query("UPDATE run SET message = ? WHERE id = ? AND state = ?")
            .with(kQueuedMessage + (": " + why), id, static_cast<int>(RunStateKind::kPreparing))
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::beginAttempt(const QString& run, const NewAttempt& begun) {
    return m_impl->transact("begin attempt of " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        Database& database = m_impl->database;
        auto trash = database.query("SELECT 1 FROM run WHERE id = ? AND deleted_ns IS NOT NULL");
        if (trash.with(id).next())
            return fail(ErrorCode::kInvalid, "begin attempt of " + run.toStdString() +
                                                 ": it is in the trash; bring it back first");
        const int attempt = begun.attempt;
        const auto start =
            begun.startStep < 0 ? std::nullopt : std::optional<int64_t>(begun.startStep);
        database
            .query("INSERT INTO attempt (run, attempt, start_step, start_from, asked_ns, skipped, "
                   "runtime, trainer, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
                   "ON CONFLICT (run, attempt) DO UPDATE SET asked_ns = ?5, skipped = ?6, "
                   "runtime = ?7, trainer = ?8, data = ?9")
            .with(id, attempt, start, begun.startFrom, wallNowNs(), begun.skipped, begun.runtime,
                  begun.identity.trainer, begun.identity.data)
            .run();
        m_impl->insertNodes(id, attempt, begun.nodes);
        takeFromQueue(database, id);
        // Its start ends what lives there of earlier attempts; what was ended uses no more numbers.
        database
            .query("DELETE FROM given_up WHERE run = ?1 AND (ended OR node IN "
                   "(SELECT name FROM node WHERE run = ?1 AND attempt = ?2))")
            .with(id, attempt)
            .run();
        m_impl->lapse(id, "the run went on in attempt " + std::to_string(attempt) +
                              " before it took effect");
        database
            .query("UPDATE run SET attempt = ?1, state = 0, message = '' WHERE id = ?2 "
                   "AND attempt <= ?1")
            .with(attempt, id)
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::setDeclaredLost(const DeclaredLostNode& node) {
    const std::string what = "declare " + node.node + " of " + node.run.toStdString() + " lost";
    return m_impl->transact(what, [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(node.run));
        m_impl->database
            .query("INSERT OR REPLACE INTO given_up (run, node, wall_ns) VALUES (?, ?, ?)")
            .with(id, node.node, wallNowNs())
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::setDeclaredLostEnded(const DeclaredLostNode& node) {
    return m_impl->transact("edit run " + node.run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(node.run));
        m_impl->database.query("UPDATE given_up SET ended = 1 WHERE run = ? AND node = ?")
            .with(id, node.node)
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::setCheckpointRemoved(const QString& run, const std::string& path,
                                               bool removed) {
    return m_impl->edit(run,
                        removed ? "UPDATE checkpoint SET removed = 1 WHERE path = ? AND run = ?"
                                : "UPDATE checkpoint SET removed = 0 WHERE path = ? AND run = ?",
                        path);
}

Result<void> StoreWriter::setCheckpointCopy(const QString& run, const std::string& path,
                                            const CheckpointCopy& copy) {
    return m_impl->transact("edit run " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        m_impl->database
            .query("INSERT OR REPLACE INTO checkpoint_copy (run, path, node, folder, wall_ns) "
                   "VALUES (?, ?, ?, ?, ?)")
            .with(id, path, copy.node, copy.folder, copy.wallNs)
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::forgetCheckpointCopy(const QString& run, const std::string& path,
                                               const std::string& node) {
    return m_impl->transact("edit run " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        m_impl->database
            .query("DELETE FROM checkpoint_copy WHERE run = ? AND path = ? AND node = ?")
            .with(id, path, node)
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::setCheckpointVerified(const QString& run, const std::string& path,
                                                int64_t wallNs) {
    return m_impl->transact("edit run " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        m_impl->database.query("UPDATE checkpoint SET verified_ns = ? WHERE run = ? AND path = ?")
            .with(wallNs, id, path)
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::setCheckpointPinned(const QString& run, const std::string& path,
                                              bool pinned) {
    return m_impl->transact("edit run " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        m_impl->database.query("UPDATE checkpoint SET pinned = ? WHERE run = ? AND path = ?")
            .with(pinned, id, path)
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::setNotes(const QString& run, const QString& notes) {
    return m_impl->edit(run, "UPDATE run SET notes = ? WHERE id = ?", notes);
}

Result<void> StoreWriter::setTags(const QString& run, const QStringList& tags) {
    const QByteArray json =
        QJsonDocument(QJsonArray::fromStringList(tags)).toJson(QJsonDocument::Compact);
    return m_impl->edit(run, "UPDATE run SET tags = ? WHERE id = ?", json.toStdString());
}

Result<void> StoreWriter::setStarred(const QString& run, bool starred) {
    return m_impl->edit(run, "UPDATE run SET starred = ? WHERE id = ?", starred);
}

Result<void> StoreWriter::setArchived(const QString& run, bool archived) {
    return m_impl->edit(run, "UPDATE run SET archived = ? WHERE id = ?", archived);
}

/// The run that has this name already; empty: none.
std::string StoreWriter::Impl::takenBy(int64_t run, const QString& name) {
    auto other = database.query("SELECT uuid FROM run WHERE id <> ?1 AND deleted_ns IS NULL AND "
                                "(name = ?2 OR uuid = ?2) ORDER BY created_ns DESC LIMIT 1");
    return other.with(run, name).next() ? other.text(0) : std::string();
}

/// The spec as it is but for its name; a text that is no TOML any more stays.
std::string StoreWriter::Impl::specCalled(int64_t run, std::string name) {
    auto row = database.query("SELECT spec FROM run WHERE id = ?");
    const std::string spec = row.with(run).next() ? row.text(0) : std::string();
    return setTomlField(spec, "spec.toml", {"name", &name}).value_or(spec);
}

Result<void> StoreWriter::setName(const QString& run, const QString& name) {
    const std::string attempt = "rename run " + run.toStdString();
    return m_impl->transact(attempt, [&]() -> Result<void> {
        if (const auto checked = checkRunName(name.toStdString()); !checked)
            return failAs(attempt, checked.error());
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        if (const std::string other = m_impl->takenBy(id, name); !other.empty())
            return fail(ErrorCode::kInvalid, attempt + ": \"" + name.toStdString() + "\" is run " +
                                                 other + " already; choose another name");
        m_impl->database.query("UPDATE run SET name = ?, spec = ? WHERE id = ?")
            .with(name, m_impl->specCalled(id, name.toStdString()), id)
            .run();
        // Its branches are told whose they are.
        m_impl->database.query("UPDATE run SET revision = revision + 1 WHERE parent_run = ?")
            .with(run)
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::setDeleted(const QString& run, bool deleted) {
    if (deleted)
        RM_RETURN_IF_ERROR(dequeue(run, RunStateKind::kStopped, {}));
    const auto when = deleted ? std::optional(wallNowNs()) : std::nullopt;
    return m_impl->edit(run,
                        // One that is there already does not stay longer.
                        "UPDATE run SET deleted_ns = CASE WHEN ?1 IS NULL THEN NULL "
                        "ELSE coalesce(deleted_ns, ?1) END WHERE id = ?2",
                        when);
}

Result<void> StoreWriter::Impl::forgetFolder(int64_t run, const std::string& node,
                                             const std::string& folder) {
    // Another node that took such a place later has files of its own, which go on.
    database
        .query("DELETE FROM cursor WHERE run = ?1 AND ?2 = (SELECT name FROM node WHERE "
               "node.run = ?1 AND node.node = cursor.node ORDER BY attempt DESC LIMIT 1)")
        .with(run, node)
        .run();
    database
        .query("DELETE FROM checkpoint_copy WHERE run = ?1 AND node = ?2 AND "
               "substr(folder, 1, length(?3)) = ?3")
        .with(run, node, folder + '/')
        .run();
    database
        .query("UPDATE checkpoint SET removed = 1 WHERE run = ?1 AND "
               "substr(path, 1, length(?3)) = ?3 AND ?2 = (SELECT name FROM node WHERE "
               "node.run = ?1 AND node.node = 0 AND node.attempt <= checkpoint.attempt "
               "ORDER BY node.attempt DESC LIMIT 1)")
        .with(run, node, folder + '/')
        .run();
    return touch(run);
}

Result<void> StoreWriter::setFolderRemoved(const QString& run, const std::string& node,
                                           const std::string& folder) {
    return m_impl->transact("edit run " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        return m_impl->forgetFolder(id, node, folder);
    });
}

Result<void> StoreWriter::setRunsRemoved(const std::string& node, const std::string& stateDir) {
    return m_impl->transact("edit the runs of " + node, [&]() -> Result<void> {
        std::vector<std::pair<int64_t, std::string>> runs;
        auto query = m_impl->database.query("SELECT id, uuid FROM run WHERE EXISTS (SELECT 1 FROM "
                                            "node WHERE node.run = run.id AND node.name = ?1) OR "
                                            "EXISTS (SELECT 1 FROM checkpoint_copy WHERE "
                                            "checkpoint_copy.run = run.id AND "
                                            "checkpoint_copy.node = ?1)");
        query.with(node);
        while (query.next())
            runs.emplace_back(query.integer(0), query.text(1));
        for (const auto& [id, uuid] : runs)
            RM_RETURN_IF_ERROR(m_impl->forgetFolder(id, node, stateDir + "/runs/" + uuid));
        return {};
    });
}

Result<RequestedCommand> StoreWriter::addCommand(const QString& run,
                                                 const RequestedCommand& command) {
    RequestedCommand stored;
    const auto done =
        m_impl->transact("note a command to " + run.toStdString(), [&]() -> Result<void> {
            RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
            Database& database = m_impl->database;
            database
                .query("INSERT OR IGNORE INTO asked_command (run, uuid, kind, arguments, who, "
                       "asked_from, asked_ns, state, step, answer, answered_ns) "
                       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
                       "CASE WHEN ?8 IN (0, 1) THEN NULL ELSE ?11 END)")
                .with(id, command.id, command.kind, argumentsToJson(command.args), command.by.who,
                      static_cast<int>(command.by.from), command.requestedNs,
                      static_cast<int>(command.state), command.step, command.answer,
                      command.answeredNs != 0 ? command.answeredNs : command.requestedNs)
                .run();
            stored = requestedCommand(database, id, command.id).value_or(command);
            return m_impl->touch(id);
        });
    return done.map([&] { return stored; });
}

Result<void> StoreWriter::setCommandState(const QString& run, const std::string& id,
                                          RequestedState state, int64_t step,
                                          const std::string& answer) {
    return m_impl->transact("note a command to " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto number, m_impl->findRun(run));
        const int64_t now = wallNowNs();
        m_impl->database
            .query("UPDATE asked_command SET state = ?3, step = ?4, answer = ?5, "
                   "accepted_ns = CASE WHEN ?3 = 1 THEN coalesce(accepted_ns, ?6) "
                   "ELSE accepted_ns END, answered_ns = CASE WHEN ?3 IN (0, 1) THEN NULL ELSE ?6 "
                   "END WHERE run = ?1 AND uuid = ?2 AND state IN (0, 1)")
            .with(number, id, static_cast<int>(state), step, answer, now)
            .run();
        return m_impl->touch(number);
    });
}

Result<void> StoreWriter::closeCommands(const QString& run, const std::string& why) {
    return m_impl->transact("note the commands to " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        m_impl->lapse(id, why);
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::closeCommandsOfEndedRuns() {
    return m_impl->transact("note the commands to runs that have ended", [&]() -> Result<void> {
        std::vector<int64_t> ended;
        {
            auto rows = m_impl->database.query(
                "SELECT DISTINCT run.id FROM run JOIN asked_command ON asked_command.run = run.id "
                "WHERE run.state NOT IN (0, 1) AND asked_command.state IN (0, 1)");
            while (rows.next())
                ended.push_back(rows.integer(0));
        }
        for (const int64_t run : ended)
            m_impl->lapse(run, "the run ended before it took effect");
        return {};
    });
}

Result<int> StoreWriter::purgeDeleted(int64_t deletedBeforeNs) {
    int purged = 0;
    const auto done = m_impl->transact("empty the trash", [&]() -> Result<void> {
        Database& database = m_impl->database;
        database
            .query("UPDATE run SET revision = revision + 1 WHERE parent_run IN "
                   "(SELECT uuid FROM run WHERE deleted_ns < ? AND state NOT IN (0, 1))")
            .with(deletedBeforeNs)
            .run();
        // One that trains all the same is not forgotten: states 0 and 1 have not ended.
        purged = database.query("DELETE FROM run WHERE deleted_ns < ? AND state NOT IN (0, 1)")
                     .with(deletedBeforeNs)
                     .run();
        return {};
    });
    if (!done)
        return tl::unexpected(done.error());
    m_impl->streams.forget();
    m_impl->memory = {};
    return purged;
}

Result<void> StoreWriter::ingest(const IngestBatch& batch) {
    const std::string attempt = "store what node " + std::to_string(batch.nodeIndex) + " of run " +
                                batch.run.toStdString() + " sent";
    return m_impl->transact(attempt, [&]() -> Result<void> {
        const auto run = m_impl->findRun(batch.run);
        if (!run)
            return failAs(attempt, run.error());
        if (const auto checked = m_impl->checkCursors(*run, batch); !checked)
            return failAs(attempt, checked.error());
        return m_impl->apply(*run, batch);
    });
}

Result<bool> StoreWriter::fillLogSearch() {
    bool isMore = false;
    const auto done = m_impl->transact("index the lines of logs", [&]() -> Result<void> {
        isMore = m_impl->fillLogSearch();
        return {};
    });
    return done.map([&] { return isMore; });
}

void StoreWriter::checkpointWal() {
    try {
        // Passive: never waits for a reader.
        auto checkpoint = m_impl->database.query("PRAGMA wal_checkpoint(PASSIVE)");
        while (checkpoint.next()) {
        }
    } catch (const SQLite::Exception& exception) {
        qCWarning(lcStore) << "fold the write-ahead log into the database:" << exception.what();
    }
}

} // namespace rm
