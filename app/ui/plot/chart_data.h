// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/step_span.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/timeline.h"
#include "app/ui/plot/axis_map.h"
#include "app/ui/plot/chart_panels.h"
#include "app/ui/plot/smoothing.h"
#include "app/ui/plot/time_spans.h"

#include <QString>
#include <QVector>

#include <optional>
#include <vector>

namespace rm {

/// Which past line a curve belongs to, if it is not the run's living one.
enum class Past { kNone, kAbandoned, kParent };

/// One line of a chart, ready to be drawn: x ascending in the unit of the axis.
struct Curve {
    QString name;       ///< "train/loss"
    QString brief = {}; ///< beside its values: "smoothed", "rank 3"; empty: the only one
    int colour = 0;     ///< index of Colours::series
    Qt::PenStyle dash = Qt::SolidLine;
    QVector<double> x = {}, y = {};
    QVector<double> raw = {};                 ///< faint under y, which is smoothed; empty: none
    bool isRawNamed = true;                   ///< the legend has its value, too
    QVector<double> low = {}, high = {};      ///< the least and most of what a point stands for
    QVector<int> lowRank = {}, highRank = {}; ///< the ranks of low and high; empty: of y itself
    QVector<double> steps = {};               ///< of each x, for the read-out
    QVector<qsizetype> breaks = {};           ///< points that no line leads to: after a pause
    double window = 0;                        ///< steps that y is smoothed over; 0: it is not
    Past past = Past::kNone;
    int attempt = 0; ///< whose abandoned line it is
    MetricFormat format = MetricFormat::kNumber;
};

/// What the charts show right now.
struct ChartQuery {
    QString run;
    int ranks = 0;
    std::vector<RunNode> nodes = {};
    int64_t lastStep = 0;
    AxisMap map = {};
    std::optional<std::pair<double, double>> range = {}; ///< visible, in units of the axis
    int maxPoints = 1000;
    Smoothing smoothing = {};
    std::vector<QString> panels = {}; ///< keys of the panels to read
    std::vector<OwnChart> own = {};   ///< charts that a person has added
    bool abandoned = true;            ///< also read abandoned lines
};

struct PanelCurves {
    ChartPanel panel;
    bool isRead = false;       ///< it was asked for
    std::vector<Curve> curves; ///< the run's own, then those of past lines
};

/// Leaves the points from `first` on and before `end`.
void cutTo(Curve& curve, qsizetype first, qsizetype end);

/// The curve in words, as its metric and what it shows of it: "Loss smoothed".
QString titleOf(const Curve& curve);

/// For all ranks and nodes of a run.
ChartQuery queryOf(const RunSummary& run);

/// What the heat map shows right now.
struct HeatQuery {
    RunSummary run;
    int64_t startNs = 0; ///< of the first attempt
    XAxis axis = XAxis::kStep;
    std::optional<std::pair<double, double>> range = {}; ///< visible; none: the whole run
    std::string metric = {};                             ///< empty: how busy the ranks are
};

/// One metric by rank and time, over the visible time of training. Times between the spans (paused,
/// held, lost) take no room.
struct HeatData {
    QString metric; ///< by name; empty: it has no samples
    QString label;  ///< of a metric that a person chose; empty: it says how busy the ranks are
    MetricFormat format = MetricFormat::kNumber;
    std::vector<QString> labels;            ///< one a rank, "0 node-a:0"
    std::vector<std::vector<double>> cells; ///< [rank][bin], NaN: nothing known
    double bottom = 0, top = 1;             ///< of the scale
    TimeSpans trained;                      ///< the bins share them equally
    TimeSpans abandoned;                    ///< in which steps were trained that do not count
    int64_t beforeNs = 0;                   ///< length of what was trained before them
    int64_t endNs = 0;                      ///< of the newest sample in sight
};

/// Every panel of the run as panelsOf() orders them, then a person's own, with the curves of those
/// that were asked for. Worker thread.
std::vector<PanelCurves> readPanels(StoreReader& reader, const ChartQuery& query);

/// One line of a metric of the run, to stand beside those of other runs: the mean of the ranks
/// where charts show that, else rank 0, or the first node; smoothed where the metric is. Worker
/// thread.
Curve readLine(StoreReader& reader, const ChartQuery& query, const MetricDef& metric);

/// Of the metric that was asked for, else gpu/utilization, or rank/cpu where there is no GPU; cost
/// by bins, not by samples. Worker thread.
HeatData readHeat(StoreReader& reader, const HeatQuery& query);

/// The steps between two places of a horizontal axis; nullopt: there are none, or they are all that
/// the run has. Worker thread.
std::optional<TimedSpan> spanBetween(StoreReader& reader, const QString& run, const AxisMap& map,
                                     double low, double high);

/// Where these steps are on a horizontal axis. Worker thread.
std::pair<double, double> rangeOf(StoreReader& reader, const QString& run, const AxisMap& map,
                                  const TimedSpan& span);

} // namespace rm
