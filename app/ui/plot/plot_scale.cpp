// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/plot_scale.h"

#include "app/ui/look/format.h"
#include "app/ui/plot/plot_style.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <set>

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

constexpr double kApart = 0.35; ///< of the room of a tick, so that texts do not touch

void addApart(std::vector<ScaleTick>& ticks, ScaleTick tick, int wanted) {
    const double least = kApart / std::max(1, wanted);
    if (std::ranges::none_of(ticks, [&](const ScaleTick& other) {
            return std::abs(other.share - tick.share) < least;
        }))
        ticks.push_back(std::move(tick));
}

std::vector<ScaleTick> categoryTicks(const PlotScale& scale, int wanted) {
    std::vector<ScaleTick> ticks;
    const auto& names = scale.scale.categories;
    const size_t every = names.size() / static_cast<size_t>(std::max(1, 2 * wanted)) + 1;
    for (size_t i = 0; i < names.size(); i += every)
        ticks.push_back({scale.shareOf(static_cast<double>(i)), QString::fromStdString(names[i])});
    return ticks;
}

/// One at each of a few values, as far as they do not lie over each other.
std::vector<ScaleTick> valueTicks(const PlotScale& scale, const std::vector<double>& values,
                                  int wanted) {
    std::vector<ScaleTick> ticks;
    for (const double value : values)
        addApart(ticks, {scale.shareOf(value), scale.textOf(value)}, wanted);
    return ticks;
}

std::vector<double> differingValues(const ValueScale& scale) {
    std::set<double> values;
    for (const double value : scale.values)
        if (!std::isnan(value))
            values.insert(value);
    return {values.begin(), values.end()};
}

/// Round numbers; whole ones where all values are.
std::vector<ScaleTick> roundTicks(const PlotScale& scale, int wanted) {
    std::vector<ScaleTick> ticks;
    const auto ticker = usesLog(scale) ? logTicker() : figureTicker();
    ticker->setTickCount(wanted);
    const double least = scale.scale.least, most = scale.scale.most;
    const bool isWhole = scale.scale.isWhole();
    const auto [at, labels] = ticksBetween(*ticker, least, most);
    for (qsizetype i = 0; i < at.size(); ++i)
        if (at[i] >= least && at[i] <= most && (!isWhole || at[i] == std::round(at[i])))
            ticks.push_back({scale.shareOf(at[i]), isWhole ? scale.textOf(at[i]) : labels[i]});
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
        return value == std::round(value) && (std::abs(value) >= 1000 || scale.isWhole())
                   ? formatCount(std::llround(value))
                   : formatFigure(value);
    const auto at = static_cast<size_t>(
        std::clamp<double>(std::round(value), 0, static_cast<double>(scale.categories.size() - 1)));
    return QString::fromStdString(scale.categories[at]);
}

std::vector<ScaleTick> ticksOf(const PlotScale& scale, int wanted) {
    if (!scale.scale.isNumeric())
        return categoryTicks(scale, wanted);
    const double least = scale.scale.least, most = scale.scale.most;
    if (most <= least)
        return {{0.5, scale.textOf(least)}};
    const std::vector<double> values = differingValues(scale.scale);
    if (values.size() >= 2 && values.size() <= static_cast<size_t>(std::max(2, wanted)))
        return valueTicks(scale, values, wanted);
    std::vector<ScaleTick> ticks = roundTicks(scale, wanted);
    if (usesLog(scale))
        for (const double end : {least, most})
            addApart(ticks, {scale.shareOf(end), scale.textOf(end)}, wanted);
    if (ticks.size() < 2)
        return {{scale.shareOf(least), scale.textOf(least)},
                {scale.shareOf(most), scale.textOf(most)}};
    return ticks;
}

} // namespace rm
