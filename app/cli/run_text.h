// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/progress.h"
#include "app/core/store/store.h"

#include <QString>

#include <string>
#include <vector>

namespace rm::cli {

inline constexpr int kBarWidth = 24; ///< of all progress bars, characters

/// "Send trainer  [####----]  52 MB sent, 80 MB/s, 1 s left": what went over the wire
std::string progressText(const Progress& progress);

/// "  bleu 27.4  chrf 55.1": the last of each of these metrics of a run.
std::string lastFigures(StoreReader& reader, const QString& run,
                        const std::vector<const MetricDef*>& metrics);

} // namespace rm::cli
