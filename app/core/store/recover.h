// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

#include <string>
#include <vector>

namespace rm {

/// What recoverStore() did.
struct RecoveredStore {
    bool wasDamaged = false; ///< otherwise nothing was done
    int runs = 0;            ///< those that are there now, with those in the trash
    QString kept;            ///< the damaged file, as it was
    /// Tables of which nothing is found, as what says where they lie is damaged.
    std::vector<std::string> lostTables;
};

/// The error where the file of a database has no bytes, as only a fault leaves it. `attempt`:
/// "open".
std::string emptyFileWords(const char* attempt, const QString& path);

/// Puts the rows that can be read of a damaged database in its place, and keeps a copy of the
/// damaged one beside it. Rows that belong to nothing any more are left out. Blocks for as long as
/// copying takes. kUnavailable: a process has it open; kNotFound: there is no database; kCorrupt:
/// it is empty, or so damaged that not even the runs are found. After an error it is as it was.
Result<RecoveredStore> recoverStore(const QString& path);

} // namespace rm
