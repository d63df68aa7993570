// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/attempts.h"
#include "app/core/store/database.h"

#include <string>
#include <vector>

namespace rm {

/// As StoreReader::rankRanges(). Throws SQLite::Exception.
std::vector<RankRange> ranksOfNode(Database& database, int64_t run, int nodeIndex,
                                   const std::string& name);

} // namespace rm
