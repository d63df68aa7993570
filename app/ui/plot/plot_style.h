// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/chart_data.h"

#include <QSharedPointer>
#include <QString>
#include <QVector>

class QCPAxis;
class QCPAxisTicker;
class QCPItemText;
class QCustomPlot;
class QFrame;

namespace rm {

/// The pointer is at a thing when it is that near.
inline constexpr double kNearPixels = 5;

/// Colours, fonts and margins of the theme for a plot: horizontal hairlines, no boxes.
void stylePlot(QCustomPlot& plot);

/// A plot, named "plot", that fills the rest of the card below what its layout has. It takes the
/// keyboard focus, which the card shows, as the plot draws no frame of its own. The card filters
/// its events.
QCustomPlot* addPlot(QFrame& card);

/// A value as its metric reads: "47 %", "1.5 GiB", "1.2k".
QString metricText(double value, MetricFormat format);

/// A chart's title with room for its legend: a long one ends in "…".
QString shortTitle(const QString& title);

/// A text in the middle of the plot, for where there is nothing to draw.
QCPItemText* addEmptyText(QCustomPlot& plot);
void styleEmptyText(QCPItemText& text); ///< as the theme has it

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
