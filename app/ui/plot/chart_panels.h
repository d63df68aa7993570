// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/settings/chart_layout.h"
#include "shared/metrics/registry.h"

#include <QString>

#include <vector>

namespace rm {

/// One chart of a run, and the metrics that share it.
struct ChartPanel {
    QString key;                         ///< names it among the charts of the run
    QString title;                       ///< with the unit, where there is one
    std::vector<MetricDef> metrics = {}; ///< by place; of one unit, but in a chart of one's own
    uint8_t colour = 0;
    bool fromZero = false;
    bool canBeLog = true;
    bool hasPast = true;
    bool isMain = false;
    std::vector<int> ranks = {}; ///< a line of each metric for each; empty: as the metrics say
    ChartShape shape = ChartShape::kLines;
    bool operator==(const ChartPanel&) const = default;
};

/// The charts for what a run reports. First those of the registry, in its order; standing ones even
/// without a metric. Then the panels that the run itself names, and one for each metric without a
/// panel, by the prefix of the metric's name.
std::vector<ChartPanel> panelsOf(const std::vector<MetricDef>& metrics);

/// A person's own chart, with those of its metrics that the run reports.
ChartPanel ownPanel(const OwnChart& chart, const std::vector<MetricDef>& metrics);

} // namespace rm
