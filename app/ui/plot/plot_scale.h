// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/run_table.h"

#include <QString>
#include <QVector>

namespace rm {

/// An axis of a plot of runs: what they have for one key, and how it is laid out.
struct PlotScale {
    QString title;
    ValueScale scale;
    bool isLog = false; ///< has an effect where scale.canBeLog()
    bool isFlipped = false;

    /// 0 at the lower end, 1 at the upper one; NaN: no value.
    double shareOf(double value) const;
    double valueAt(double share) const;
    /// The value in words: "0.002", or the category.
    QString textOf(double value) const;
    bool operator==(const PlotScale&) const = default;
};

/// A label on an axis.
struct ScaleTick {
    double share = 0;
    QString text;
};
/// About `wanted` round numbers; of fewer values a tick each, and of categories, as far as there is
/// room for them. Whole numbers have whole ticks; a logarithmic axis has some at its ends.
std::vector<ScaleTick> ticksOf(const PlotScale& scale, int wanted);

/// A run in such a plot.
struct PlottedRun {
    QString id, name;
    int colour = 0; ///< index of Colours::series
    bool operator==(const PlottedRun&) const = default;
};

} // namespace rm
