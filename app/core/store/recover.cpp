// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/recover.h"

#include "app/core/settings/private_files.h"
#include "app/core/store/database.h"
#include "app/core/store/lock_file.h"
#include "app/core/store/schema.h"
#include "app/core/store/schema_rescue.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <QFile>
#include <QFileInfo>
#include <QtEndian>

#include <sqlite3.h>

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace rm {

namespace {

std::string attempt(const QString& path) {
    return "recover " + path.toStdString();
}

/// Whether all pages and indices are as they should be.
bool isWhole(SQLite::Database& database) {
    return database.execAndGet("PRAGMA integrity_check(1)").getString() == "ok";
}

Result<bool> isWhole(const QString& path) {
    const std::string file = path.toStdString();
    return guarded(attempt(path), file, [&]() -> Result<bool> {
        try {
            SQLite::Database database(file, SQLite::OPEN_READONLY);
            return isWhole(database);
        } catch (const SQLite::Exception& exception) {
            if ((exception.getErrorCode() & 0xff) != SQLITE_CORRUPT)
                throw;
            return false;
        }
    });
}

void removeWithParts(const QString& path) {
    for (const char* part : {"", "-wal", "-shm"})
        QFile::remove(path + part);
}

/// Copies the database with what was not folded into it yet: to the name of the copy.
Result<QString> keepCopy(const QString& path) {
    QString copy = path + ".damaged";
    for (int number = 2; QFile::exists(copy); ++number)
        copy = path + ".damaged-" + QString::number(number);
    for (const char* part : {"", "-wal"}) {
        if (!QFile::exists(path + part))
            continue;
        QFile from(path + part);
        if (!from.copy(copy + part)) {
            removeWithParts(copy);
            return fail(ErrorCode::kUnavailable, attempt(path) + ": copy it to " +
                                                     copy.toStdString() + ": " +
                                                     from.errorString().toStdString());
        }
        protectFile((copy + part).toStdString());
        if (auto synced = syncFile((copy + part).toStdString()); !synced) {
            removeWithParts(copy);
            return tl::unexpected(synced.error());
        }
    }
    return copy;
}

/// `PRAGMA user_version`, which SQLite does not read where it cannot read the tables. 0: it is none
/// of ours.
int versionInHeader(const QString& path) {
    constexpr int kVersionAt = 60, kApplicationAt = 68;
    QFile file(path);
    const QByteArray head = file.open(QIODevice::ReadOnly) ? file.read(100) : QByteArray();
    const auto number = [&head](int at) { return qFromBigEndian<uint32_t>(head.constData() + at); };
    return head.size() == 100 && number(kApplicationAt) == uint32_t{kApplicationId}
               ? static_cast<int>(number(kVersionAt))
               : 0;
}

std::string named(const std::string& name) {
    return '"' + name + '"';
}

/// Copies the rows of a table that can be read from one database into another of the same tables.
class TableCopy {
public:
    TableCopy(SQLite::Database& from, SQLite::Database& to, const std::string& table)
        : m_from(from)
        , m_table(table) {
        std::string marks;
        SQLite::Statement columns(to, "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid");
        columns.bind(1, table);
        std::map<int, std::string> key;
        while (columns.executeStep()) {
            const std::string name = named(columns.getColumn(0).getString());
            m_columns += (m_columns.empty() ? "" : ", ") + name;
            marks += marks.empty() ? "?" : ", ?";
            if (const int place = columns.getColumn(1).getInt(); place > 0)
                key[place] = name;
        }
        SQLite::Statement kind(to, "SELECT wr FROM pragma_table_list(?)");
        kind.bind(1, table);
        m_hasRowids = !kind.executeStep() || kind.getColumn(0).getInt() == 0;
        if (!m_hasRowids)
            for (const auto& [place, name] : key)
                m_key.push_back(name);
        else
            m_key = {"rowid"};
        m_insert.emplace(to, "INSERT OR IGNORE INTO " + named(table) + " (" + m_columns +
                                 ") VALUES (" + marks + ")");
    }

    /// Damage ends a pass. The next one begins at the first row behind it that can be read, or,
    /// where rows have no numbers, at the end.
    void run() {
        if (pass("", false))
            return;
        if (!m_hasRowids) {
            pass(" DESC", false);
            return;
        }
        while (skipDamage())
            if (pass("", true))
                return;
    }

private:
    /// Sets m_last behind the damage; false: nothing can be read behind it.
    bool skipDamage() {
        constexpr int64_t kFar = int64_t{1} << 40; // rows
        int64_t good = 1;
        while (good < kFar && !canReadBehind(m_last + good))
            good *= 2;
        if (good >= kFar)
            return false;
        int64_t bad = good / 2;
        while (good - bad > 1) {
            const int64_t middle = bad + (good - bad) / 2;
            (canReadBehind(m_last + middle) ? good : bad) = middle;
        }
        m_last += good;
        return true;
    }

    /// Whether the next row behind that number can be read, or there is none.
    bool canReadBehind(int64_t rowid) {
        return readable([&] {
            SQLite::Statement row(m_from,
                                  "SELECT " + m_columns + " FROM " + named(m_table) +
                                      " NOT INDEXED WHERE rowid > ? ORDER BY rowid LIMIT 1");
            row.bind(1, rowid);
            row.executeStep();
        });
    }

    /// False: damage was met, as where the file was cut before the table's first page, which is
    /// "no such table" then. Throws what is none.
    template <class Read>
    static bool readable(const Read& read) {
        try {
            read();
            return true;
        } catch (const SQLite::Exception& exception) {
            const bool isCut = std::string_view(exception.what()).starts_with("no such table");
            if ((exception.getErrorCode() & 0xff) != SQLITE_CORRUPT && !isCut)
                throw;
            return false;
        }
    }

    /// True: there was no damage up to the end.
    bool pass(const char* order, bool isBehind) {
        std::string by;
        for (const std::string& column : m_key)
            by += (by.empty() ? "" : ", ") + column + order;
        return readable([&] {
            SQLite::Statement rows(m_from,
                                   "SELECT " + m_columns + (m_hasRowids ? ", rowid" : ", 0") +
                                       " FROM " + named(m_table) + " NOT INDEXED" +
                                       (isBehind ? " WHERE rowid > ?" : "") + " ORDER BY " + by);
            if (isBehind)
                rows.bind(1, m_last);
            while (rows.executeStep()) {
                copy(rows);
                m_last = rows.getColumn(rows.getColumnCount() - 1).getInt64();
            }
        });
    }

    void copy(SQLite::Statement& row) {
        m_insert->reset();
        for (int at = 0; at + 1 < row.getColumnCount(); ++at) {
            const SQLite::Column value = row.getColumn(at);
            if (value.isInteger())
                m_insert->bind(at + 1, value.getInt64());
            else if (value.isFloat())
                m_insert->bind(at + 1, value.getDouble());
            else if (value.isText())
                m_insert->bind(at + 1, value.getString());
            else if (value.isBlob())
                m_insert->bind(at + 1, value.getBlob(), value.getBytes());
            else
                m_insert->bind(at + 1);
        }
        m_insert->exec();
    }

    SQLite::Database& m_from;
    std::string m_table, m_columns;
    std::vector<std::string> m_key; ///< what orders its rows
    bool m_hasRowids = true;
    std::optional<SQLite::Statement> m_insert;
    int64_t m_last = 0; ///< rowid of the row that was copied last
};

/// Whether SQLite can read which tables there are.
bool knowsTables(SQLite::Database& from) {
    try {
        static_cast<void>(from.execAndGet("SELECT count(*) FROM sqlite_master"));
        return true;
    } catch (const SQLite::Exception&) {
        return false;
    }
}

/// Opens a database that may be damaged to read what can be read.
std::unique_ptr<SQLite::Database> openDamaged(const QString& path) {
    auto from = std::make_unique<SQLite::Database>(path.toStdString(), SQLite::OPEN_READONLY);
    // Else SQLite reads nothing of a file that was cut, and is shorter than its header says.
    from->exec("PRAGMA writable_schema = ON");
    return from;
}

/// A copy of the database in which its tables can be found, though pages are damaged that say where
/// they are. It is removed with this.
class FoundTables {
public:
    explicit FoundTables(const QString& path)
        : m_path(path)
        , m_copy(path + ".tables") {}
    ~FoundTables() { removeWithParts(m_copy); }
    FoundTables(const FoundTables&) = delete;
    FoundTables& operator=(const FoundTables&) = delete;

    /// kCorrupt: none is found.
    Result<std::unique_ptr<SQLite::Database>> open(SQLite::Database& whole) {
        removeWithParts(m_copy);
        for (const char* part : {"", "-wal"})
            if (QFile::exists(m_path + part) && !QFile::copy(m_path + part, m_copy + part))
                return fail(ErrorCode::kUnavailable,
                            attempt(m_path) + ": copy it to " + m_copy.toStdString());
        foldIn();
        const auto lost = rescueSchema(m_copy, whole);
        if (!lost)
            return failAs(attempt(m_path), lost.error());
        m_lost = *lost;
        auto from = openDamaged(m_copy);
        if (!knowsTables(*from) || !from->tableExists("run"))
            return fail(ErrorCode::kCorrupt,
                        attempt(m_path) +
                            ": nothing can be read of it, as the pages are damaged that "
                            "say what the others are; bring back a copy, or move it away with its "
                            "-wal and -shm: then the list of runs begins anew, and what nodes have "
                            "of runs stays there");
        return from;
    }

    /// Tables of which nothing is found.
    const std::vector<std::string>& lost() const { return m_lost; }

private:
    /// A statement would need the tables.
    void foldIn() const {
        QFile::setPermissions(m_copy, QFile::ReadOwner | QFile::WriteOwner);
        SQLite::Database copy(m_copy.toStdString(), SQLite::OPEN_READWRITE);
        sqlite3_wal_checkpoint_v2(copy.getHandle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                                  nullptr);
    }

    QString m_path, m_copy;
    std::vector<std::string> m_lost;
};

/// Copies what can be read into a new database of the same schema. The tables of which nothing is
/// found.
Result<std::vector<std::string>> copyRows(const QString& path, const QString& fresh) {
    const std::string file = fresh.toStdString();
    auto from = openDamaged(path);
    const bool areTablesKnown = knowsTables(*from);
    const int version =
        areTablesKnown ? from->execAndGet("PRAGMA user_version").getInt() : versionInHeader(path);
    auto steps = schemaSteps();
    if (version < 1 || version > steps.back().version)
        return fail(ErrorCode::kCorrupt, attempt(path) + ": it is none of Ringmaster's, or of a "
                                                         "later release");
    std::erase_if(steps, [version](const SchemaStep& step) { return step.version > version; });
    Database to(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    RM_RETURN_IF_ERROR(upgradeSchema(to, file, steps));
    FoundTables found(path);
    if (!areTablesKnown) {
        from.reset();
        RM_ASSIGN_OR_RETURN(from, found.open(to.connection()));
    }
    std::vector<std::string> tables;
    // Not the index of words, which the writer fills again.
    SQLite::Statement names(to.connection(), "SELECT name FROM pragma_table_list WHERE schema = "
                                             "'main' AND type = 'table' AND name <> 'log_search' "
                                             "AND name NOT LIKE 'sqlite_%'");
    while (names.executeStep())
        tables.push_back(names.getColumn(0).getString());
    names.reset();
    SQLite::Transaction transaction(to.connection());
    for (const std::string& table : tables)
        TableCopy(*from, to.connection(), table).run();
    transaction.commit();
    from.reset();
    return found.lost();
}

struct Reference {
    std::string table, column, parent, key;
};

std::vector<Reference> references(Database& database) {
    std::vector<Reference> all;
    auto rows = database.query("SELECT m.name, f.\"from\", f.\"table\", coalesce(f.\"to\", 'id') "
                               "FROM sqlite_master m, pragma_foreign_key_list(m.name) f "
                               "WHERE m.type = 'table'");
    while (rows.next())
        all.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3)});
    return all;
}

/// Without that a later row of a number that was lost would come to what had belonged to it.
void removeOrphans(Database& database) {
    const auto all = references(database);
    for (bool isAny = true; isAny;) {
        isAny = false;
        for (const Reference& each : all)
            isAny = database.connection().exec("DELETE FROM \"" + each.table + "\" WHERE \"" +
                                               each.column + "\" NOT IN (SELECT \"" + each.key +
                                               "\" FROM \"" + each.parent + "\")") > 0 ||
                    isAny;
    }
}

/// The writer puts the lines of logs into the index of words anew, and rates them again: which ones
/// had been rated is not known any more.
void rateAgain(Database& database) {
    if (database.connection().tableExists("log_search"))
        database.connection().exec(
            "UPDATE log_search SET unrated = (SELECT coalesce(max(id), 0) FROM log_line)");
}

/// Makes `fresh` a database with what can be read of the other one.
Result<RecoveredStore> rescue(const QString& path, const QString& fresh) {
    const std::string file = fresh.toStdString();
    return guarded(attempt(path), path.toStdString(), [&]() -> Result<RecoveredStore> {
        RecoveredStore done;
        done.wasDamaged = true;
        RM_ASSIGN_OR_RETURN(done.lostTables, copyRows(path, fresh));
        Database database(file, SQLite::OPEN_READWRITE);
        {
            SQLite::Transaction transaction(database.connection());
            removeOrphans(database);
            rateAgain(database);
            transaction.commit();
        }
        if (!isWhole(database.connection()))
            return fail(ErrorCode::kInternal, attempt(path) + ": what came of it is damaged, too");
        done.runs = database.connection().execAndGet("SELECT count(*) FROM run").getInt();
        return done;
    });
}

} // namespace

std::string emptyFileWords(const char* attempt, const QString& path) {
    return std::string(attempt) + ' ' + path.toStdString() +
           ": the file is empty, so that what was in it is lost; bring back a copy of it, or "
           "remove "
           "it: then the list of runs begins anew, and what nodes have of runs stays there";
}

Result<RecoveredStore> recoverStore(const QString& path) {
    if (!QFile::exists(path))
        return fail(ErrorCode::kNotFound, attempt(path) + ": nothing is stored yet");
    RM_ASSIGN_OR_RETURN(const auto lock, LockFile::take(lockOf(path), path.toStdString()));
    if (QFileInfo(path).size() == 0)
        return fail(ErrorCode::kCorrupt, emptyFileWords("recover", path));
    RM_ASSIGN_OR_RETURN(const bool isGood, isWhole(path));
    if (isGood)
        return RecoveredStore{};
    const QString fresh = path + ".recovered";
    removeWithParts(fresh);
    RM_ASSIGN_OR_RETURN(const QString copy, keepCopy(path));
    auto moved = rescue(path, fresh).and_then([&](const RecoveredStore& done) {
        return syncFile(fresh.toStdString()).map([&] { return done; });
    });
    if (!moved) {
        removeWithParts(fresh);
        removeWithParts(copy);
        return tl::unexpected(moved.error());
    }
    protectFile(fresh.toStdString());
    // First, as what was not folded into the old file would be taken for the new one's.
    for (const char* part : {"-wal", "-shm"})
        QFile::remove(path + part);
    if (std::rename(fresh.toLocal8Bit(), path.toLocal8Bit()) != 0) {
        const int error = errno;
        QFile::copy(copy + "-wal", path + "-wal");
        return failErrno("rename " + fresh.toStdString(), error);
    }
    RM_RETURN_IF_ERROR(syncFolder(QFileInfo(path).absolutePath().toStdString()));
    moved->kept = copy;
    return moved;
}

} // namespace rm
