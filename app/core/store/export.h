// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/log_choice.h"
#include "app/core/store/store_reader.h"

#include <QStringList>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace rm {

/// Which samples of a run.
struct SampleChoice {
    std::vector<std::string> metrics = {}; ///< by name; empty: all
    std::vector<int> ranks = {};           ///< empty: all
    int64_t first = INT64_MIN;             ///< step
    int64_t last = INT64_MAX;
    bool namesRuns = false; ///< a first column `run` has the id
};

/// `metric,rank,step,wall_time,value` of every visible point; wall_time in Unix seconds with
/// microseconds. `runs`: ids. Returns the number of rows; an error if none of the runs has a sample
/// of a chosen metric.
Result<int64_t> exportCsv(StoreReader& reader, const QStringList& runs, std::ostream& out,
                          const SampleChoice& choice = {});
/// The same to a file, which is overwritten.
Result<int64_t> exportCsv(StoreReader& reader, const QStringList& runs, const QString& path,
                          const SampleChoice& choice = {});

/// `2026-11-21 11:02:13.250  node-a:3  TEXT` a line, by time, with this computer's time zone; the
/// clock is that of the node that wrote it. `~` in front of the time: nobody noted it, so that it
/// is when the line came here. Returns the number of lines.
Result<int64_t> exportLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                          std::ostream& out);
/// The same to a file, which is overwritten.
Result<int64_t> exportLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                          const QString& path);
/// Such a line without its end, of that place.
std::string logLineText(const LogLine& line, const std::string& place);
std::string logLineText(const LogLine& line);
/// "node-a:3"; "r3": its node is not known.
std::string placeText(const LogLine& line);

} // namespace rm
