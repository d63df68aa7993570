// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/alignment.h"
#include "app/ui/data/run_styles.h"
#include "app/ui/plot/chart_data.h"

#include <QString>

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

/// A run that is not drawn on the axis.
struct MissingCurve {
    QString run; ///< its name
    QString why; ///< begins with it
};

struct MissingReason {
    QString text;       ///< why the first of its runs is not drawn
    int64_t others = 0; ///< runs of which the same holds
};
/// Each reason once, in the order of the runs.
std::vector<MissingReason> reasonsOf(const std::vector<MissingCurve>& missing);

struct ComparedCurves {
    struct Chart {
        std::string metric;
        std::vector<Curve> curves; ///< one for each run that can be drawn
    };
    std::vector<Chart> charts;
    std::vector<WorkUnit> units; ///< what the runs' steps are made of, by run
    std::vector<MissingCurve> missing;
};

/// One line for each run and metric. Worker thread.
ComparedCurves readCurves(StoreReader& reader, const CurvesQuery& query);

} // namespace rm
