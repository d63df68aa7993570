// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace rm {

/// One cell of an answer: NULL, a whole number, a number, or a text. Bytes are hexadecimal text.
using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;
using SqlRow = std::vector<SqlValue>;

/// Takes the names of the columns, then each row; false: no more is wanted.
struct SqlSink {
    std::function<void(const std::vector<std::string>& columns)> begin;
    std::function<bool(const SqlRow& row)> add;
};

/// A table of what is stored that stays as it is when the stored tables change.
struct SqlTable {
    const char* name;
    const char* columns; ///< "run TEXT, step INTEGER, ...", as in CREATE TABLE
};
/// `runs`, `spec`, `metrics`, `samples`, `events`, `attempts`, `commands`, `checkpoints`, `logs`,
/// `trace_slices`. Times are seconds since the Unix epoch, of a trace since its begin. Samples and
/// checkpoints are without those that were set aside; `spec` has no rows for a run whose spec is of
/// a later release.
const std::vector<SqlTable>& sqlTables();

/// Answers one statement that only reads, over sqlTables(), the stored tables of SCHEMA.md, and
/// value(run, key): what parseValueKey() names, a number where it is one.
/// kInvalid: SQLite does not take the statement, which its words say, or there are several.
/// kCorrupt and others: the database cannot be read.
Result<void> runSql(const QString& database, const std::string& statement, const SqlSink& sink);

} // namespace rm
