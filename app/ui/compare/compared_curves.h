// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/alignment.h"
#include "app/ui/data/run_styles.h"
#include "app/ui/plot/chart_data.h"

#include <QStringList>

#include <vector>

namespace rm {

/// What the charts of several runs show right now.
struct CurvesQuery {
    struct Run {
        RunSummary run;
        RunStyle style;
    };
    std::vector<Run> runs;       ///< that are drawn
    std::vector<RunSummary> all; ///< also those that are hidden
    std::vector<MetricDef> metrics;
    XAxis axis = XAxis::kStep;
    Alignment alignment = {};
    std::optional<std::pair<double, double>> range = {}; ///< visible, in units of the axis
    int maxPoints = 1000;
    Smoothing smoothing = {};
};

struct ComparedCurves {
    struct Chart {
        std::string metric;
        std::vector<Curve> curves; ///< one for each run that can be drawn
    };
    std::vector<Chart> charts;
    std::vector<WorkUnit> units; ///< what the runs' steps are made of, by run
    QStringList missing;         ///< why runs are not drawn on this axis, a line each
};

/// One line for each run and metric. Worker thread.
ComparedCurves readCurves(StoreReader& reader, const CurvesQuery& query);

} // namespace rm
