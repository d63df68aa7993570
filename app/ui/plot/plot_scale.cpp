// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/plot_scale.h"

#include "app/ui/look/format.h"
#include "app/ui/plot/plot_style.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

bool usesLog(const PlotScale& scale) {
    return scale.isLog && scale.scale.canBeLog();
}

/// Of values that are all alike, the middle.
double unflipped(const PlotScale& scale, double value) {
    const double least = scale.scale.least, most = scale.scale.most;
    if (std::isnan(value) || most <= least)
        return std::isnan(value) ? value : 0.5;
    return usesLog(scale) ? std::log(value / least) / std::log(most / least)
                          : (value - least) / (most - least);
}

std::vector<ScaleTick> categoryTicks(const PlotScale& scale, int wanted) {
    std::vector<ScaleTick> ticks;
    const auto& names = scale.scale.categories;
    const size_t every = names.size() / static_cast<size_t>(std::max(1, 2 * wanted)) + 1;
    for (size_t i = 0; i < names.size(); i += every)
        ticks.push_back({scale.shareOf(static_cast<double>(i)), QString::fromStdString(names[i])});
    return ticks;
}

} // namespace

double PlotScale::shareOf(double value) const {
    const double share = unflipped(*this, value);
    return isFlipped ? 1 - share : share;
}

double PlotScale::valueAt(double share) const {
    const double at = isFlipped ? 1 - share : share;
    return usesLog(*this) ? scale.least * std::pow(scale.most / scale.least, at)
                          : scale.least + at * (scale.most - scale.least);
}

QString PlotScale::textOf(double value) const {
    if (std::isnan(value))
        return kAbsent;
    if (scale.isNumeric())
        return std::abs(value) >= 1000 && value == std::round(value)
                   ? formatCount(std::llround(value))
                   : formatFigure(value);
    const auto at = static_cast<size_t>(
        std::clamp<double>(std::round(value), 0, static_cast<double>(scale.categories.size() - 1)));
    return QString::fromStdString(scale.categories[at]);
}

std::vector<ScaleTick> ticksOf(const PlotScale& scale, int wanted) {
    if (!scale.scale.isNumeric())
        return categoryTicks(scale, wanted);
    std::vector<ScaleTick> ticks;
    const double least = scale.scale.least, most = scale.scale.most;
    if (most <= least)
        return {{0.5, scale.textOf(least)}};
    const auto ticker = usesLog(scale) ? logTicker() : figureTicker();
    ticker->setTickCount(wanted);
    const auto [at, labels] = ticksBetween(*ticker, least, most);
    for (qsizetype i = 0; i < at.size(); ++i)
        if (at[i] >= least && at[i] <= most)
            ticks.push_back({scale.shareOf(at[i]), labels[i]});
    if (ticks.size() < 2)
        return {{scale.shareOf(least), scale.textOf(least)},
                {scale.shareOf(most), scale.textOf(most)}};
    return ticks;
}

} // namespace rm
