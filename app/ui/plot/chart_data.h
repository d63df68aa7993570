// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store.h"
#include "app/ui/widgets/chip.h"

#include <QString>
#include <QVector>

#include <optional>
#include <vector>

namespace rm {

enum class XAxis { kStep, kRelative, kWall };

/// One line of a chart, ready to be drawn: x ascending in the unit of the axis.
struct Curve {
    QString name;
    int colour = 0; ///< index of Colours::series
    Qt::PenStyle dash = Qt::SolidLine;
    QVector<double> x = {}, y = {};
    QVector<double> raw = {};            ///< faint under y; empty: none
    QVector<double> low = {}, high = {}; ///< band around y; empty: none
    QVector<double> steps = {};          ///< of each x, for the read-out
};

/// A moment that a person should see on every chart.
struct Mark {
    int64_t step = 0;
    int64_t wallNs = 0;
    Tone tone = Tone::kAccent;
    QString text;
    bool quiet = false; ///< one of many: fainter
    bool operator==(const Mark&) const = default;
};

enum class Panel { kLoss, kQuality, kLr, kGradNorm, kThroughput, kPhases };
inline constexpr int kPanelCount = 6;

/// What the charts show right now.
struct ChartQuery {
    QString run;
    int ranks = 0;
    int64_t lastStep = 0;
    int64_t startNs = 0; ///< zero of XAxis::kRelative
    XAxis axis = XAxis::kStep;
    std::optional<std::pair<double, double>> range = {}; ///< visible, in units of the axis
    int maxPoints = 1000;
    double smoothing = 0.9;
    std::vector<Panel> panels = {};
};

struct PanelCurves {
    Panel panel = Panel::kLoss;
    std::vector<Curve> curves;
};

/// What the heat map shows right now.
struct HeatQuery {
    RunSummary run;
    int64_t startNs = 0; ///< of the first attempt
    XAxis axis = XAxis::kStep;
    std::optional<std::pair<double, double>> range = {}; ///< visible; none: the whole run
};

/// A rank x time picture of one metric over the visible time.
struct HeatData {
    QString metric;                         ///< empty: neither is there
    std::vector<QString> labels;            ///< one a rank, "0 node-a:0"
    std::vector<std::vector<double>> cells; ///< [rank][bin], NaN: nothing known
    double top = 1;                         ///< of the scale
    int64_t firstNs = 0, lastNs = 0;
};

/// The curves of every panel asked for. Worker thread.
std::vector<PanelCurves> readPanels(StoreReader& reader, const ChartQuery& query);

/// gpu/utilization, or rank/cpu where there is no GPU; cost by bins, not by samples. Worker thread.
HeatData readHeat(StoreReader& reader, const HeatQuery& query);

/// The step of rank 0 at a moment; nullopt: none is known. Worker thread.
std::optional<int64_t> stepAt(StoreReader& reader, const QString& run, int64_t wallNs);

/// x of a step or moment on an axis.
double xOf(XAxis axis, int64_t startNs, int64_t step, int64_t wallNs);

} // namespace rm
