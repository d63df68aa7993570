// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

namespace rm {

/// Where the holder of `database` listens: one socket per database, in $XDG_RUNTIME_DIR/ringmaster
/// or, if that cannot be used, in ringmaster-UID below the folder for temporary files. Makes the
/// folder, accessible to its owner only; kDenied when it belongs to another user. Clients read the
/// path from the lock file instead (see StoreWriter::announce()).
Result<QString> socketFor(const QString& database);

} // namespace rm
