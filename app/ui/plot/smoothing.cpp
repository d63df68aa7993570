// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/smoothing.h"

#include <algorithm>
#include <cmath>

namespace rm {

namespace {
constexpr double kTicksPerSpan = 1000;
}

QVector<double> smoothed(const QVector<double>& x, const QVector<double>& y, double weight,
                         double tick) {
    if (weight <= 0 || tick <= 0)
        return y;
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

double smoothingTick(double span, double spacing) {
    return std::max(span / kTicksPerSpan, spacing);
}

double smoothingWindow(double weight, double tick) {
    return weight <= 0 ? 0 : tick / (1 - weight);
}

} // namespace rm
