// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QLoggingCategory>
#include <QString>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rm {

Q_DECLARE_LOGGING_CATEGORY(lcStore)

/// A prepared statement being used; resets it at the end so that no read lock stays behind.
/// Columns count from 0. Throws SQLite::Exception.
class Query {
public:
    explicit Query(SQLite::Statement& statement);
    Query(const Query&) = delete;
    ~Query();

    /// Binds all parameters in order. Blobs must live until the query is done.
    template <class... Values>
    Query& with(const Values&... values) {
        int index = 0;
        (bind(++index, values), ...);
        return *this;
    }

    bool next() { return m_statement.executeStep(); }
    /// For statements without rows; the number of rows changed.
    int run() { return m_statement.exec(); }

    int64_t integer(int column) const { return m_statement.getColumn(column).getInt64(); }
    int number(int column) const { return m_statement.getColumn(column).getInt(); }
    double real(int column) const { return m_statement.getColumn(column).getDouble(); }
    bool isNull(int column) const { return m_statement.getColumn(column).isNull(); }
    std::string text(int column) const { return m_statement.getColumn(column).getString(); }
    QString string(int column) const { return QString::fromStdString(text(column)); }
    /// The first column of the next row; nullopt: there is none, or it is NULL.
    std::optional<int64_t> firstInteger() {
        return next() && !isNull(0) ? std::optional(integer(0)) : std::nullopt;
    }
    /// Lives until the next step.
    std::span<const std::byte> blob(int column) const;

private:
    void bind(int index, int value) { m_statement.bind(index, static_cast<int64_t>(value)); }
    void bind(int index, bool value) { m_statement.bind(index, static_cast<int64_t>(value)); }
    void bind(int index, int64_t value) { m_statement.bind(index, value); }
    void bind(int index, uint64_t value) { m_statement.bind(index, static_cast<int64_t>(value)); }
    void bind(int index, double value) { m_statement.bind(index, value); }
    void bind(int index, const std::string& value) { m_statement.bind(index, value); }
    void bind(int index, const char* value) { m_statement.bind(index, std::string(value)); }
    void bind(int index, const QString& value) { m_statement.bind(index, value.toStdString()); }
    void bind(int index, std::span<const std::byte> value);
    void bind(int index, const std::optional<int64_t>& value);

    SQLite::Statement& m_statement;
};

/// One connection and its prepared statements. One thread at a time.
class Database {
public:
    Database(const std::string& path, int flags);

    /// `sql` must be a literal: its address is the key of the cache. One use at a time of each.
    Query query(const char* sql);
    SQLite::Database& connection() { return m_connection; }
    bool inTransaction();

private:
    SQLite::Database m_connection;
    std::unordered_map<const char*, std::unique_ptr<SQLite::Statement>> m_statements;
};

/// A connection that only reads, also from a disk that is read-only or full, while others write.
/// Throws SQLite::Exception.
class ReadConnection : public Database {
public:
    explicit ReadConnection(const std::string& path);
};

/// A read transaction: all queries in its scope see the same state of the database. Scopes can
/// nest.
class ReadScope {
public:
    explicit ReadScope(Database& database);
    ReadScope(const ReadScope&) = delete;
    ~ReadScope();

private:
    Database* m_database;
};

/// kExhausted where the disk of `file` is full, "ATTEMPT: this computer's disk is full: make room
/// at FOLDER", whatever it was that failed for that; otherwise `error`.
Error orDiskFull(const std::string& attempt, const std::string& file, const Error& error);

/// Turns an exception of SQLite about the database `file` into an error for people, as
/// orDiskFull().
Error errorOf(const std::string& attempt, const std::string& file,
              const SQLite::Exception& exception);

/// Runs `body`, which is about the database `file`, and turns SQLite's exceptions into errors.
/// `body` returns a Result.
template <class Body>
auto guarded(const std::string& attempt, const std::string& file, Body&& body) -> decltype(body()) {
    try {
        return body();
    } catch (const SQLite::Exception& exception) {
        return tl::unexpected<Error>(errorOf(attempt, file, exception));
    }
}

} // namespace rm
