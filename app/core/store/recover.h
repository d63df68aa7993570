// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

namespace rm {

/// What recoverStore() did.
struct RecoveredStore {
    bool wasDamaged = false; ///< otherwise nothing was done
    int runs = 0;            ///< those that are there now, with those in the trash
    QString kept;            ///< the damaged file, as it was
};

/// The error where the file of a database has no bytes, as only a fault leaves it. `attempt`:
/// "open".
std::string emptyFileWords(const char* attempt, const QString& path);

/// Puts the rows that can be read of a damaged database in its place, and keeps a copy of the
/// damaged one beside it. Rows that belong to nothing any more are left out. Blocks for as long as
/// copying takes. kUnavailable: a process has it open; kNotFound: there is no database; kCorrupt:
/// it is empty, or one of the pages is damaged that say what the others are. After an error it is
/// as it was.
Result<RecoveredStore> recoverStore(const QString& path);

} // namespace rm
