// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QVector>

namespace rm {

/// Debiased exponential moving average that takes the points' distance into account: a distance of
/// `tick` decays by `weight` once (0: no smoothing, towards 1: more). NaN is skipped.
QVector<double> smoothed(const QVector<double>& x, const QVector<double>& y, double weight,
                         double tick);

/// The tick of a run of length `span` with a sample every `spacing`: a thousandth of the span, so
/// that runs of all lengths look alike, but never less than `spacing`.
double smoothingTick(double span, double spacing);

/// How far the average reaches back: the sum of its weights, times `tick`.
double smoothingWindow(double weight, double tick);

} // namespace rm
