// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/database.h"
#include "app/core/store/stored_trace.h"
#include "shared/journal/records.h"

#include <map>
#include <tuple>
#include <vector>

namespace rm {

/// Where a part of a trace belongs.
struct TracePlace {
    int64_t run = 0;
    int32_t attempt = 1;
    int node = 0;
};

/// Gathers the parts of traces of one batch, so that those of a rank are compressed together.
/// Throws SQLite::Exception.
class TraceRows {
public:
    /// Empty: it was taken; else why it is refused.
    std::string add(Database& database, const TracePlace& place, const TraceRecorded& part);
    void store(Database& database);

private:
    struct Rows {
        TracePlace place;
        TraceRecorded last; ///< of the parts, with the slices of all
    };
    std::map<std::tuple<int64_t, int32_t, int64_t, int32_t>, Rows> m_rows;
};

std::vector<StoredTrace> tracesOf(Database& database, int64_t run);
/// By rank. kCorrupt: a row cannot be read.
Result<std::vector<RankTrace>> readTrace(Database& database, int64_t run, const TraceId& id);

} // namespace rm
