// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"

#include <iosfwd>

namespace rm {

/// `metric,rank,step,wall_time,value` of every visible point; wall_time in Unix seconds with
/// microseconds. Returns the number of rows.
Result<int64_t> exportCsv(StoreReader& reader, const QString& run, std::ostream& out);
/// The same to a file, which is overwritten.
Result<int64_t> exportCsv(StoreReader& reader, const QString& run, const QString& path);

/// Which lines of a run's log.
struct LogChoice {
    int rank = -1;    ///< -1: of all ranks, merged
    QString contains; ///< empty: all
};

/// `2026-11-21 11:02:13  r3  TEXT` a line, oldest first; times by this computer's clock and zone,
/// when the lines came here. Returns the number of lines.
Result<int64_t> exportLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                          std::ostream& out);
/// The same to a file, which is overwritten.
Result<int64_t> exportLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                          const QString& path);

} // namespace rm
