// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

namespace rm {

/// Where the process that holds `database` listens: a socket of its own for each database in
/// $XDG_RUNTIME_DIR/ringmaster, or, where that cannot be, in ringmaster-UID below the folder for
/// temporary files. Makes the folder, for its owner alone; kDenied when that is somebody else's.
/// Those who connect do not ask this: the lock file says where (see StoreWriter::announce()).
Result<QString> socketFor(const QString& database);

} // namespace rm
