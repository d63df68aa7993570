// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QVector>

namespace rm {

enum class SmoothingKind {
    kEma,      ///< debiased exponential moving average of what lies before
    kMean,     ///< mean of a window around each point
    kGaussian, ///< mean of that window, weighted by nearness
    kMedian,   ///< median of that window, which one outlier does not move
};

/// How lines are smoothed: `weight` 0 is not at all, towards 1 more.
struct Smoothing {
    SmoothingKind kind = SmoothingKind::kEma;
    double weight = 0.9;
    bool operator==(const Smoothing&) const = default;
};

/// Takes the points' distance into account: for an average a distance of `tick` decays by the
/// weight once, and the window of the others is smoothingWindow() wide, ± two standard deviations.
/// NaN is skipped.
QVector<double> smoothed(const QVector<double>& x, const QVector<double>& y,
                         const Smoothing& smoothing, double tick);

/// Points that are means of several values, of which some are only there for those beside them.
struct SmoothingPart {
    QVector<double> counts; ///< of how many values each is the mean
    qsizetype first = 0, count = 0;
};
/// The same of `part.count` points from `part.first` on.
QVector<double> smoothed(const QVector<double>& x, const QVector<double>& y,
                         const Smoothing& smoothing, double tick, const SmoothingPart& part);

/// The tick of a run of length `span` with a sample every `spacing`: a thousandth of the span, so
/// that runs of all lengths look alike, but never less than `spacing`.
double smoothingTick(double span, double spacing);

/// How far the average reaches back, which is the sum of its weights times `tick`, or how wide the
/// window is.
double smoothingWindow(double weight, double tick);

struct SmoothingReach {
    double before = 0, after = 0;
};
/// How far from a point those lie that its smoothed value counts; of an average all but a
/// thousandth of its weights.
SmoothingReach smoothingReach(const Smoothing& smoothing, double tick);

} // namespace rm
