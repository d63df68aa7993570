// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/plot_style.h"

#include "app/ui/format.h"
#include "app/ui/theme.h"

#include <qcustomplot.h>

namespace rm {

namespace {

constexpr int kTicks = 4;
constexpr int kLeftMargin = 46;
constexpr int kBottomMargin = 22;

QString tickText(double value) {
    const double size = std::abs(value);
    if (size != 0 && size < 0.001)
        return QString::number(value, 'e', 1).replace("e-0", "e-").replace(".0e", "e");
    if (size != 0 && size < 0.01)
        return QString::number(value, 'g', 2);
    return formatCompact(value).remove(QChar(0x202F));
}

class FigureTicker : public QCPAxisTicker {
protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return tickText(tick);
    }
};

class LogFigureTicker : public QCPAxisTickerLog {
protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return tickText(tick);
    }
};

class RelativeTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override {
        static const double steps[] = {1,   2,   5,    10,   20,   30,    60,    120,  300,
                                       600, 900, 1800, 3600, 7200, 14400, 28800, 86400};
        const double wanted = range.size() / (mTickCount + 1e-10);
        for (const double step : steps)
            if (step >= wanted)
                return step;
        return getMantissa(wanted) * std::pow(10, std::floor(std::log10(wanted)));
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return tick < 0 ? QString() : formatDuration(tick);
    }
};

/// A clock that shows seconds or days where minutes would repeat.
class WallTicker : public QCPAxisTickerDateTime {
protected:
    double getTickStep(const QCPRange& range) override {
        const double step = QCPAxisTickerDateTime::getTickStep(range);
        mDateTimeFormat = step < 60 ? "HH:mm:ss" : step < 86400 ? "HH:mm" : "MM-dd";
        return step;
    }
};

void styleAxis(QCPAxis& axis) {
    const Colours& c = colours();
    axis.setNumberFormat("g"); // no powers with superscripts: the text is ours
    axis.setBasePen(Qt::NoPen);
    axis.setTickPen(Qt::NoPen);
    axis.setSubTickPen(Qt::NoPen);
    axis.setTickLabelFont(Theme::instance().font(FontRole::kCaption));
    axis.setTickLabelColor(c.secondary);
    axis.setTickLengthIn(0);
    axis.grid()->setPen(QPen(c.grid, 1));
    axis.grid()->setSubGridVisible(false);
    axis.grid()->setZeroLinePen(QPen(c.grid, 1));
}

} // namespace

void stylePlot(QCustomPlot& plot) {
    plot.setBackground(QBrush(colours().card));
    plot.axisRect()->setBackground(Qt::NoBrush);
    plot.axisRect()->setAutoMargins(QCP::msNone);
    plot.axisRect()->setMargins({kLeftMargin, 2 * size::kGrid, 3 * size::kGrid, kBottomMargin});
    for (QCPAxis* axis : {plot.xAxis, plot.yAxis})
        styleAxis(*axis);
    plot.xAxis->grid()->setVisible(false);
    plot.xAxis->setTickLabelPadding(size::kGrid);
    plot.yAxis->setTickLabelPadding(2 * size::kGrid);
}

QSharedPointer<QCPAxisTicker> figureTicker() {
    auto ticker = QSharedPointer<FigureTicker>::create();
    ticker->setTickCount(kTicks);
    return ticker;
}

QSharedPointer<QCPAxisTicker> logTicker() {
    return QSharedPointer<LogFigureTicker>::create();
}

QSharedPointer<QCPAxisTicker> xTicker(XAxis axis) {
    if (axis == XAxis::kStep)
        return figureTicker();
    if (axis == XAxis::kRelative) {
        auto ticker = QSharedPointer<RelativeTicker>::create();
        ticker->setTickCount(kTicks);
        return ticker;
    }
    auto ticker = QSharedPointer<WallTicker>::create();
    ticker->setTickCount(kTicks);
    return ticker;
}

} // namespace rm
