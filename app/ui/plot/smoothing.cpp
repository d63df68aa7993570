// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/smoothing.h"

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr double kTicksPerSpan = 1000;
constexpr double kForgotten = 0.001; ///< a share of an average's weights that does not count

/// What is smoothed: y at x, each the mean of so many values. Smoothed values are wanted from
/// `first` on and before `end`.
struct Points {
    const QVector<double>& x;
    const QVector<double>& y;
    const QVector<double>& counts; ///< empty: of one
    qsizetype first, end;

    double countOf(qsizetype at) const { return counts.isEmpty() ? 1 : counts[at]; }
};

QVector<double> movingAverage(const Points& points, double weight, double tick) {
    QVector<double> out(points.end - points.first);
    double sum = 0, mass = 0, before = points.x.isEmpty() ? 0 : points.x.front();
    for (qsizetype i = 0; i < points.end; ++i) {
        double value = points.y[i];
        if (std::isfinite(value)) {
            const double keep = std::pow(weight, (points.x[i] - before) / tick);
            sum = sum * keep + points.countOf(i) * value;
            mass = mass * keep + points.countOf(i);
            before = points.x[i];
            value = sum / mass;
        }
        if (i >= points.first)
            out[i - points.first] = value;
    }
    return out;
}

/// Replaces each finite value by what `valueOf(i, first, end)` makes of the points in its window.
template <class ValueOf>
QVector<double> overWindows(const Points& points, double width, ValueOf valueOf) {
    const QVector<double>& x = points.x;
    QVector<double> out = points.y.mid(points.first, points.end - points.first);
    qsizetype first = 0, end = 0;
    for (qsizetype i = points.first; i < points.end; ++i) {
        while (x[first] < x[i] - width / 2)
            ++first;
        while (end < x.size() && x[end] <= x[i] + width / 2)
            ++end;
        if (std::isfinite(points.y[i]))
            out[i - points.first] = valueOf(i, first, end);
    }
    return out;
}

template <class WeightOf>
QVector<double> weightedMeans(const Points& points, double width, WeightOf weightOf) {
    return overWindows(points, width, [&](qsizetype at, qsizetype first, qsizetype end) {
        double sum = 0, mass = 0;
        for (qsizetype i = first; i < end; ++i)
            if (std::isfinite(points.y[i])) {
                const double weight = points.countOf(i) * weightOf(points.x[i] - points.x[at]);
                sum += weight * points.y[i];
                mass += weight;
            }
        return sum / mass;
    });
}

/// Half of the values that the points stand for are at most that.
QVector<double> medians(const Points& points, double width) {
    std::vector<std::pair<double, double>> values; // each with its count
    return overWindows(points, width, [&](qsizetype, qsizetype first, qsizetype end) {
        values.clear();
        double half = 0;
        for (qsizetype i = first; i < end; ++i)
            if (std::isfinite(points.y[i])) {
                values.emplace_back(points.y[i], points.countOf(i));
                half += points.countOf(i) / 2;
            }
        std::ranges::sort(values);
        size_t at = 0;
        for (double below = values[0].second; below <= half && at + 1 < values.size();)
            below += values[++at].second;
        return values[at].first;
    });
}

QVector<double> smoothedPoints(const Points& points, const Smoothing& smoothing, double tick) {
    if (smoothing.weight <= 0 || tick <= 0)
        return points.y.mid(points.first, points.end - points.first);
    const double width = smoothingWindow(smoothing.weight, tick);
    switch (smoothing.kind) {
    case SmoothingKind::kEma:
        return movingAverage(points, smoothing.weight, tick);
    case SmoothingKind::kMean:
        return weightedMeans(points, width, [](double) { return 1.0; });
    case SmoothingKind::kGaussian:
        return weightedMeans(points, width, [deviation = width / 4](double away) {
            return std::exp(-away * away / (2 * deviation * deviation));
        });
    case SmoothingKind::kMedian:
        return medians(points, width);
    }
    Q_UNREACHABLE();
}

} // namespace

QVector<double> smoothed(const QVector<double>& x, const QVector<double>& y,
                         const Smoothing& smoothing, double tick) {
    return smoothedPoints({x, y, {}, 0, y.size()}, smoothing, tick);
}

QVector<double> smoothed(const QVector<double>& x, const QVector<double>& y,
                         const Smoothing& smoothing, double tick, const SmoothingPart& part) {
    return smoothedPoints({x, y, part.counts, part.first, part.first + part.count}, smoothing,
                          tick);
}

double smoothingTick(double span, double spacing) {
    return std::max(span / kTicksPerSpan, spacing);
}

double smoothingWindow(double weight, double tick) {
    return weight <= 0 ? 0 : tick / (1 - weight);
}

SmoothingReach smoothingReach(const Smoothing& smoothing, double tick) {
    if (smoothing.weight <= 0 || tick <= 0)
        return {};
    if (smoothing.kind == SmoothingKind::kEma)
        return {tick * std::log(kForgotten) / std::log(smoothing.weight), 0};
    const double half = smoothingWindow(smoothing.weight, tick) / 2;
    return {half, half};
}

} // namespace rm
