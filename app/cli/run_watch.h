// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/progress.h"
#include "app/core/store/store.h"

#include <QString>

#include <string>
#include <vector>

namespace rm::cli {

class Session;

/// "Send trainer  [####----]  52 MB sent, 80 MB/s, 1 s left": what went over the wire
std::string progressText(const Progress& progress);

/// "  bleu 27.4  chrf 55.1": the last of each of these metrics of a run.
std::string lastFigures(StoreReader& reader, const QString& run,
                        const std::vector<const MetricDef*>& metrics);

/// Follows a run until it ends: a status line with bar, loss and speed, events as they come, the
/// last sample of text at the end. Ctrl+C leaves the run alone. The exit code says how it ended:
/// 0 finished, else ExitCode::kRunFailed, kPaused, kStopped or kPreempted.
int watchRun(Session& session, const QString& run);

} // namespace rm::cli
