// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/database.h"

#include "shared/io/file.h"

#include <sqlite3.h>

#include <filesystem>

namespace rm {

Q_LOGGING_CATEGORY(lcStore, "ringmaster.store", QtWarningMsg)

namespace {

ErrorCode codeOf(int sqliteCode) {
    switch (sqliteCode & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
        return ErrorCode::kExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return ErrorCode::kCorrupt;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return ErrorCode::kDenied;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR:
        return ErrorCode::kUnavailable;
    case SQLITE_CANTOPEN:
        return ErrorCode::kNotFound;
    default:
        return ErrorCode::kInternal;
    }
}

std::string folderOf(const std::string& file) {
    return std::filesystem::path(file).parent_path().string();
}

Error diskFull(const std::string& attempt, const std::string& file) {
    return {ErrorCode::kExhausted,
            attempt + ": this computer's disk is full: make room at " + folderOf(file)};
}

/// Whether the least that SQLite adds, a block of its -shm, does not fit any more.
bool isFullAt(const std::string& file) {
    constexpr size_t kLeast = 32 * 1024;
    return isDiskFull(whyNotWritten(folderOf(file), kLeast));
}

} // namespace

Query::Query(SQLite::Statement& statement)
    : m_statement(statement) {
    m_statement.tryReset();
}

Query::~Query() {
    m_statement.tryReset();
}

std::span<const std::byte> Query::blob(int column) const {
    const SQLite::Column value = m_statement.getColumn(column);
    return {static_cast<const std::byte*>(value.getBlob()), static_cast<size_t>(value.getBytes())};
}

void Query::bind(int index, std::span<const std::byte> value) {
    // A null pointer would bind NULL.
    const void* data = value.empty() ? static_cast<const void*>("") : value.data();
    m_statement.bindNoCopy(index, data, static_cast<int>(value.size()));
}

void Query::bind(int index, const std::optional<int64_t>& value) {
    if (value)
        m_statement.bind(index, *value);
    else
        m_statement.bind(index);
}

Database::Database(const std::string& path, int flags)
    : m_connection(path, flags) {
    m_connection.setBusyTimeout(5000);
}

Query Database::query(const char* sql) {
    auto& statement = m_statements[sql];
    if (!statement)
        statement = std::make_unique<SQLite::Statement>(m_connection, sql);
    return Query(*statement);
}

bool Database::inTransaction() {
    return sqlite3_get_autocommit(m_connection.getHandle()) == 0;
}

ReadScope::ReadScope(Database& database)
    : m_database(database.inTransaction() ? nullptr : &database) {
    if (m_database)
        m_database->connection().exec("BEGIN");
}

ReadScope::~ReadScope() {
    if (m_database)
        m_database->connection().tryExec("COMMIT");
}

Error orDiskFull(const std::string& attempt, const std::string& file, const Error& error) {
    return isFullAt(file) ? diskFull(attempt, file) : error;
}

Error errorOf(const std::string& attempt, const std::string& file,
              const SQLite::Exception& exception) {
    const int kind = exception.getErrorCode() & 0xff;
    const Error error{codeOf(kind), attempt + ": " + exception.what()};
    if (kind == SQLITE_FULL)
        return diskFull(attempt, file);
    if (kind == SQLITE_CORRUPT)
        return {error.code, error.message +
                                "; close Ringmaster and run `ringmaster recover`, which keeps "
                                "that file and puts what can be read of it in its place"};
    if (kind == SQLITE_NOTADB)
        return {error.code, error.message +
                                "; bring back a copy of that file, or move it away together with "
                                "its -wal and -shm: then the list of runs begins anew, and what "
                                "nodes have of runs stays there"};
    // Where there is no room for its -shm, or a quota is used up, SQLite calls that an I/O error or
    // a file that does not open.
    const bool mayBeFull = kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN;
    return mayBeFull ? orDiskFull(attempt, file, error) : error;
}

} // namespace rm
