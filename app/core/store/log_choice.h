// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/series.h"

#include <QString>

#include <cstdint>
#include <limits>
#include <vector>

namespace rm {

/// Which lines of a run's log.
struct LogChoice {
    int rank = -1;                                         ///< -1: of all ranks, merged
    QString contains = {};                                 ///< these characters; empty: all
    QString search = {};                                   ///< LogSearch
    Severity least = Severity::kInfo;                      ///< and what is more serious
    int64_t sinceNs = 0;                                   ///< that time and later
    int64_t untilNs = std::numeric_limits<int64_t>::max(); ///< that time and earlier
};

/// Lines of a run's log, by time.
struct LogPage {
    std::vector<LogLine> lines;
    bool isAll = true;  ///< no more lines fit
    int64_t lastId = 0; ///< of the line that was stored last when this was read, for logAfter()
};

} // namespace rm
