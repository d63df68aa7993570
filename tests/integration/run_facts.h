// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"
#include "app/core/store/series.h"

#include <QByteArray>
#include <QString>

#include <map>
#include <optional>
#include <vector>

namespace rm {

/// Steps at which each rank has a value, in the order found.
using StepsByRank = std::map<int, std::vector<int64_t>>;

/// From the text of `export --format csv`; empty when its header is not the promised one.
StepsByRank stepsInCsv(const QByteArray& csv, const QByteArray& metric);

/// From the database itself.
StepsByRank stepsInStore(const QString& database, const QString& run, const std::string& metric);

/// "" when each of `ranks` ranks has each step from `first` to `last` exactly once, else what is
/// wrong.
QByteArray flawIn(StepsByRank steps, int ranks, int64_t first, int64_t last);

/// The newest run; nullopt while the database or the run does not exist.
std::optional<RunSummary> newestRun(const QString& database);
std::optional<RunSummary> findRun(const QString& database, const QString& run);

/// For a person: what is stored of the newest run, with its last events.
QByteArray newsOf(const QString& database);

/// The value of `metric` of `rank` at every step.
std::vector<Point> pointsOf(const QString& database, const QString& run, const std::string& metric,
                            int rank);

/// "" when the steps between two moments went on like those before, else what was slow: the median
/// step a third longer, or two seconds without a step. `stepMs` holds train/step_ms.
QByteArray stallIn(const std::vector<Point>& stepMs, int64_t fromNs, int64_t toNs);

/// `PRAGMA integrity_check`'s answer.
std::string integrityOf(const QString& database);

} // namespace rm
