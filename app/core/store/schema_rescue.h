// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>
#include <vector>

namespace rm {

/// Replaces, in a database file that nobody has open, the table of tables (sqlite_schema), of which
/// pages are damaged: SQLite then finds the tables' rows again. `whole` is a database of the same
/// schema. The header of the file has to be whole, and its -wal to be folded in.
///
/// A table's first page is known from what is left of that table of tables; else it is the one that
/// `whole` has, if a page of that kind lies there, as both were made by the same steps. Tables of
/// which neither is known are missing in the file then: the answer names them.
Result<std::vector<std::string>> rescueSchema(const QString& file, SQLite::Database& whole);

} // namespace rm
