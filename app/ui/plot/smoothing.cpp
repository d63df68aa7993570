// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/smoothing.h"

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr double kTicksPerSpan = 1000;

QVector<double> movingAverage(const QVector<double>& x, const QVector<double>& y, double weight,
                              double tick) {
    QVector<double> out(y.size());
    double sum = 0, mass = 0, before = x.isEmpty() ? 0 : x.front();
    for (qsizetype i = 0; i < y.size(); ++i) {
        if (!std::isfinite(y[i])) {
            out[i] = y[i];
            continue;
        }
        const double keep = std::pow(weight, (x[i] - before) / tick);
        sum = sum * keep + y[i];
        mass = mass * keep + 1;
        before = x[i];
        out[i] = sum / mass;
    }
    return out;
}

/// Replaces each finite value by what `valueOf(i, first, end)` makes of the points in its window.
template <class ValueOf>
QVector<double> overWindows(const QVector<double>& x, const QVector<double>& y, double width,
                            ValueOf valueOf) {
    QVector<double> out = y;
    qsizetype first = 0, end = 0;
    for (qsizetype i = 0; i < y.size(); ++i) {
        while (x[first] < x[i] - width / 2)
            ++first;
        while (end < x.size() && x[end] <= x[i] + width / 2)
            ++end;
        if (std::isfinite(y[i]))
            out[i] = valueOf(i, first, end);
    }
    return out;
}

template <class WeightOf>
QVector<double> weightedMeans(const QVector<double>& x, const QVector<double>& y, double width,
                              WeightOf weightOf) {
    return overWindows(x, y, width, [&](qsizetype at, qsizetype first, qsizetype end) {
        double sum = 0, mass = 0;
        for (qsizetype i = first; i < end; ++i)
            if (std::isfinite(y[i])) {
                const double weight = weightOf(x[i] - x[at]);
                sum += weight * y[i];
                mass += weight;
            }
        return sum / mass;
    });
}

QVector<double> medians(const QVector<double>& x, const QVector<double>& y, double width) {
    std::vector<double> values;
    return overWindows(x, y, width, [&](qsizetype, qsizetype first, qsizetype end) {
        values.clear();
        std::copy_if(y.begin() + first, y.begin() + end, std::back_inserter(values),
                     [](double value) { return std::isfinite(value); });
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    });
}

} // namespace

QVector<double> smoothed(const QVector<double>& x, const QVector<double>& y,
                         const Smoothing& smoothing, double tick) {
    if (smoothing.weight <= 0 || tick <= 0)
        return y;
    const double width = smoothingWindow(smoothing.weight, tick);
    switch (smoothing.kind) {
    case SmoothingKind::kEma:
        return movingAverage(x, y, smoothing.weight, tick);
    case SmoothingKind::kMean:
        return weightedMeans(x, y, width, [](double) { return 1.0; });
    case SmoothingKind::kGaussian:
        return weightedMeans(x, y, width, [deviation = width / 4](double away) {
            return std::exp(-away * away / (2 * deviation * deviation));
        });
    case SmoothingKind::kMedian:
        return medians(x, y, width);
    }
    Q_UNREACHABLE();
}

double smoothingTick(double span, double spacing) {
    return std::max(span / kTicksPerSpan, spacing);
}

double smoothingWindow(double weight, double tick) {
    return weight <= 0 ? 0 : tick / (1 - weight);
}

} // namespace rm
