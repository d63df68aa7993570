// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QVector>

namespace rm {

/// Exponential moving average, debiased, weighted by distance: `tick` between two points counts as
/// one tick of `weight` (0: none, towards 1: more). NaN is passed over.
QVector<double> smoothed(const QVector<double>& x, const QVector<double>& y, double weight,
                         double tick);

/// The tick of a run that is `span` long and has a sample every `spacing`: a thousandth of it, so
/// that all lengths look alike, but never less than what lies between two samples.
double smoothingTick(double span, double spacing);

/// How far the average reaches back: where its weights would end if they were equal.
double smoothingWindow(double weight, double tick);

} // namespace rm
