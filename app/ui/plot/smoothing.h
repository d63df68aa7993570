// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QVector>

namespace rm {

/// Exponential moving average, debiased, weighted by distance: a thousandth of `span` between two
/// points counts as one tick of `weight` (0: none, towards 1: more). NaN is passed over.
QVector<double> smoothed(const QVector<double>& x, const QVector<double>& y, double weight,
                         double span);

} // namespace rm
