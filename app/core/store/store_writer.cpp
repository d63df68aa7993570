// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/private_files.h"
#include "app/core/store/database.h"
#include "app/core/store/lock_file.h"
#include "app/core/store/record_writer.h"
#include "app/core/store/schema.h"
#include "app/core/store/store.h"
#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "shared/spec/run_spec.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_edit.h"

#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>

#include <fcntl.h>

#include <algorithm>

namespace rm {

namespace {

constexpr int kWalPages = 8192; ///< 32 MiB, then SQLite folds the WAL into the file

int64_t stepsOf(const std::string& specToml) {
    const auto spec = parseRunSpec(specToml, "spec.toml");
    return spec ? spec->train.steps : 0;
}

Result<void> configure(Database& database, const std::string& path) {
    return guarded("open " + path, [&]() -> Result<void> {
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
    Impl(LockFile held, const std::string& path)
        : lock(std::move(held))
        , database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        , streams(database) {}

    /// Runs `body` in a transaction: committed when it gives a value, else rolled back.
    Result<void> transact(const std::string& attempt, const std::function<Result<void>()>& body) {
        const auto done = guarded(attempt, [&]() -> Result<void> {
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

    Result<int64_t> findRun(const QString& run) {
        auto query = database.query("SELECT id FROM run WHERE uuid = ?");
        if (query.with(run).next())
            return query.integer(0);
        return fail(ErrorCode::kNotFound, "find run " + run.toStdString() + ": there is none");
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
    void forgetLogsOfOthers(int64_t run, int attempt, const RunNode& node);
    void noteBranch(int64_t id, const NewRun& run, int64_t wallNs);
    Result<void> checkCursors(int64_t run, const IngestBatch& batch);
    Result<void> apply(int64_t run, const IngestBatch& batch);
    uint64_t cursor(int64_t run, int node, const std::string& file);
    std::string takenBy(int64_t run, const QString& name);
    std::string specCalled(int64_t run, std::string name);

    LockFile lock; ///< first: freed last
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
    RecordWriter records(database, streams, memory, run, batch.nodeIndex);
    for (const Record& record : batch.records)
        records.apply(record);
    if (const auto finished = records.finish(); !finished)
        return finished;
    const int64_t now = wallNowNs();
    for (const auto& [rank, line] : batch.logLines)
        if (records.owns(rank))
            database.query("INSERT INTO log_line (run, rank, wall_ns, text) VALUES (?, ?, ?, ?)")
                .with(run, rank, now, line)
                .run();
    for (const auto& [file, offset] : batch.cursors)
        database
            .query("INSERT INTO cursor (run, node, file, offset) VALUES (?1, ?2, ?3, ?4) "
                   "ON CONFLICT (run, node, file) DO UPDATE SET offset = ?4")
            .with(run, batch.nodeIndex, file, offset)
            .run();
    return touch(run);
}

StoreWriter::StoreWriter() = default;
StoreWriter::~StoreWriter() = default;

namespace {

std::string lockOf(const QString& path) {
    return path.toStdString() + ".lock";
}

} // namespace

Result<std::unique_ptr<StoreWriter>> StoreWriter::open(const QString& path) {
    const std::string file = path.toStdString();
    RM_RETURN_IF_ERROR(makeFolders(QFileInfo(path).absolutePath().toStdString()));
    RM_ASSIGN_OR_RETURN(auto lock, LockFile::take(lockOf(path), file));
    protectFile(lockOf(path));
    RM_RETURN_IF_ERROR(openFile(file, O_RDWR | O_CREAT, 0600)); // SQLite would go by the umask
    return guarded("open " + file, [&]() -> Result<std::unique_ptr<StoreWriter>> {
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

std::string StoreWriter::announced(const QString& path) {
    return LockFile::announced(lockOf(path));
}

Result<void> StoreWriter::createRun(const NewRun& run) {
    return m_impl->transact("create run " + run.id.toStdString(), [&]() -> Result<void> {
        if (m_impl->findRun(run.id))
            return fail(ErrorCode::kInvalid,
                        "create run " + run.id.toStdString() + ": it exists already");
        Database& database = m_impl->database;
        const int64_t now = wallNowNs();
        database
            .query(
                "INSERT INTO run (uuid, name, state, spec, total_steps, parent_run, "
                "parent_step, created_ns, updated_ns) VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?7)")
            .with(run.id, run.name, run.specToml, stepsOf(run.specToml), run.parentRun,
                  run.parentStep, now)
            .run();
        const int64_t id = database.connection().getLastInsertRowid();
        m_impl->insertNodes(id, 1, run.nodes);
        if (!run.parentRun.isEmpty())
            m_impl->noteBranch(id, run, now);
        return {};
    });
}

Result<void> StoreWriter::setState(const QString& run, RunStateKind state, const QString& message) {
    return m_impl->transact("edit run " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        m_impl->database.query("UPDATE run SET state = ?, message = ? WHERE id = ?")
            .with(static_cast<int>(state), message, id)
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::beginAttempt(const QString& run, int attempt, int64_t startStep,
                                       const std::string& startFrom,
                                       const std::vector<RunNode>& nodes) {
    return m_impl->transact("begin attempt of " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        Database& database = m_impl->database;
        const auto start = startStep < 0 ? std::nullopt : std::optional<int64_t>(startStep);
        database
            .query("INSERT INTO attempt (run, attempt, start_step, start_from, asked_ns) "
                   "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (run, attempt) DO UPDATE SET "
                   "asked_ns = ?5")
            .with(id, attempt, start, startFrom, wallNowNs())
            .run();
        m_impl->insertNodes(id, attempt, nodes);
        database
            .query("UPDATE run SET attempt = ?1, state = 0, message = '' WHERE id = ?2 "
                   "AND attempt <= ?1")
            .with(attempt, id)
            .run();
        return m_impl->touch(id);
    });
}

Result<void> StoreWriter::setCheckpointRemoved(const QString& run, const std::string& path) {
    return m_impl->edit(run, "UPDATE checkpoint SET removed = 1 WHERE path = ? AND run = ?", path);
}

Result<void> StoreWriter::setNotes(const QString& run, const QString& notes) {
    return m_impl->edit(run, "UPDATE run SET notes = ? WHERE id = ?", notes);
}

Result<void> StoreWriter::setTags(const QString& run, const QStringList& tags) {
    const QByteArray json =
        QJsonDocument(QJsonArray::fromStringList(tags)).toJson(QJsonDocument::Compact);
    return m_impl->edit(run, "UPDATE run SET tags = ? WHERE id = ?", json.toStdString());
}

/// Empty, or who is meant by this name already.
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
    const auto when = deleted ? std::optional(wallNowNs()) : std::nullopt;
    return m_impl->edit(run,
                        // One that is there already does not stay longer.
                        "UPDATE run SET deleted_ns = CASE WHEN ?1 IS NULL THEN NULL "
                        "ELSE coalesce(deleted_ns, ?1) END WHERE id = ?2",
                        when);
}

Result<void> StoreWriter::setFolderRemoved(const QString& run, int nodeIndex,
                                           const std::string& folder) {
    return m_impl->transact("edit run " + run.toStdString(), [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto id, m_impl->findRun(run));
        Database& database = m_impl->database;
        database.query("DELETE FROM cursor WHERE run = ? AND node = ?").with(id, nodeIndex).run();
        if (nodeIndex == 0)
            database
                .query("UPDATE checkpoint SET removed = 1 WHERE run = ?1 AND "
                       "substr(path, 1, length(?2)) = ?2")
                .with(id, folder + '/')
                .run();
        return m_impl->touch(id);
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
