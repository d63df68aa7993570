// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/chart_data.h"

#include <QSharedPointer>
#include <QString>
#include <QVector>

class QCPAxis;
class QCPAxisTicker;
class QCustomPlot;
class QWidget;

namespace rm {

/// The pointer is at a thing when it is that near.
inline constexpr double kNearPixels = 5;

/// Colours, fonts and margins of the theme for a plot: horizontal hairlines, no boxes.
void stylePlot(QCustomPlot& plot);

/// Shows on its card that the plot, which draws no frame of its own, has the keyboard focus.
void showFocusOn(QWidget& card, QCustomPlot& plot);

/// Ticks with labels formatted as in format.h.
QSharedPointer<QCPAxisTicker> figureTicker(MetricFormat format = MetricFormat::kNumber);
QSharedPointer<QCPAxisTicker> logTicker();
QSharedPointer<QCPAxisTicker> xTicker(XAxis axis); ///< also of what lies before 0

struct Ticks {
    QVector<double> at;
    QVector<QString> labels; ///< as many
};

/// What `ticker` writes on an axis that shows from `low` to `high`.
Ticks ticksBetween(QCPAxisTicker& ticker, double low, double high);

} // namespace rm
