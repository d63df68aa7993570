// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/plot_style.h"

#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QApplication>
#include <QBoxLayout>
#include <QContextMenuEvent>
#include <QFrame>
#include <qcustomplot.h>

#include <cmath>

namespace rm {

namespace {

constexpr int kTicks = 4;
constexpr int kLeftMargin = 46;
constexpr int kBottomMargin = 22;
constexpr int kMostDecimals = 4; ///< that fit into the left margin

/// How many decimals ticks need that are `step` apart.
int decimalsFor(double step) {
    constexpr int kMost = 6;
    int decimals = 0;
    for (; decimals < kMost && std::abs(step - std::round(step)) > 1e-6 * step; ++decimals)
        step *= 10;
    return decimals;
}

/// The shortest text that differs from the neighbouring ticks, which are `step` away.
QString tickText(double value, double step) {
    const double size = std::abs(value);
    if (size < 1e-6 * step)
        return QStringLiteral("0");
    if (size < 0.001 || (size < 0.1 && decimalsFor(step) > kMostDecimals)) {
        const double unit = std::pow(10, std::floor(std::log10(size) + 1e-9));
        const int decimals = decimalsFor(size / unit); // no zeros at the end
        return QString::number(value, 'e', std::min(decimals, decimalsFor(step / unit)))
            .replace("e-0", "e-");
    }
    for (const auto& [unit, name] : {std::pair(1e9, "G"), std::pair(1e6, "M"), std::pair(1e3, "k")})
        if (size >= unit && decimalsFor(step / unit) <= 2)
            return QString::number(value / unit, 'f', decimalsFor(step / unit)) + name;
    return size < 1000 ? QString::number(value, 'f', decimalsFor(step))
                       : formatCount(std::llround(value));
}

class FigureTicker : public QCPAxisTicker {
public:
    FigureTicker() { setTickCount(kTicks); }

protected:
    double getTickStep(const QCPRange& range) override {
        m_step = QCPAxisTicker::getTickStep(range);
        return m_step;
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return tickText(tick, m_step);
    }

    double m_step = 1;
};

/// Ratios, shown in percent.
class PercentTicker : public FigureTicker {
protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return tickText(100 * tick, 100 * m_step) + QStringLiteral(" %");
    }
};

/// Round numbers in the binary prefix of the axis' upper end.
class BytesTicker : public FigureTicker {
protected:
    double getTickStep(const QCPRange& range) override {
        static const char* const names[] = {" B", " Ki", " Mi", " Gi",
                                            " Ti"}; // the margin is narrow
        size_t prefix = 0;
        for (m_unit = 1; range.upper >= kPrefix * m_unit && prefix + 1 < std::size(names); ++prefix)
            m_unit *= kPrefix;
        m_name = QLatin1String(names[prefix]);
        m_step = QCPAxisTicker::getTickStep({range.lower / m_unit, range.upper / m_unit});
        return m_step * m_unit;
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return tick == 0 ? tickText(0, m_step) : tickText(tick / m_unit, m_step) + m_name;
    }

private:
    static constexpr double kPrefix = 1024;
    double m_unit = 1;
    QString m_name;
};

/// Ticks at whole steps only, written as everywhere else unless they are whole thousands.
class StepTicker : public FigureTicker {
protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return std::fmod(m_step, 1000) == 0 ? tickText(tick, m_step)
                                            : formatCount(std::llround(tick));
    }

    double getTickStep(const QCPRange& range) override {
        m_step = std::max(1.0, std::floor(FigureTicker::getTickStep(range)));
        return m_step;
    }
};

/// Powers of ten, or round numbers if the range holds too few of them.
class LogFigureTicker : public QCPAxisTickerLog {
public:
    void generate(const QCPRange& range, const QLocale& locale, QChar format, int precision,
                  QVector<double>& ticks, QVector<double>* subTicks,
                  QVector<QString>* labels) override {
        if (range.lower > 0 && range.upper / range.lower < kFewDecades)
            m_figures.generate(range, locale, format, precision, ticks, subTicks, labels);
        else
            QCPAxisTickerLog::generate(range, locale, format, precision, ticks, subTicks, labels);
    }

protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return tickText(tick, tick);
    }

private:
    static constexpr double kFewDecades = 50;
    FigureTicker m_figures;
};

class RelativeTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override {
        static const double steps[] = {1,   2,   5,    10,   20,   30,    60,    120,  300,
                                       600, 900, 1800, 3600, 7200, 14400, 28800, 86400};
        const double wanted = range.size() / (mTickCount + 1e-10);
        const auto* const step = std::ranges::lower_bound(steps, wanted);
        m_step = step != std::end(steps)
                     ? *step
                     : getMantissa(wanted) * std::pow(10, std::floor(std::log10(wanted)));
        return m_step;
    }
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override {
        if (tick < 0)
            return QChar(0x2212) + getTickLabel(-tick, locale, format, precision);
        const auto whole = static_cast<int>(std::lround(tick));
        if (m_step < 60 && whole >= 60) // whole minutes would repeat
            return QString("%1:%2").arg(whole / 60).arg(whole % 60, 2, 10, QChar('0'));
        return formatDuration(tick);
    }

private:
    double m_step = 1;
};

/// Clock times; with seconds or dates if hours and minutes alone would repeat.
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
    axis.setNumberFormat("g"); // no superscripts: we format the text
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

QCustomPlot* addPlot(QFrame& card) {
    auto* plot = new QCustomPlot;
    plot->setObjectName("plot");
    plot->setFocusPolicy(Qt::StrongFocus);
    plot->installEventFilter(&card);
    QObject::connect(qApp, &QApplication::focusChanged, &card,
                     [&card, plot](const QWidget*, const QWidget* now) {
                         setStyleProperty(&card, "focused", now == plot);
                     });
    // QCustomPlot keeps what it does not take from its parents, and so the menu from the card.
    plot->setContextMenuPolicy(Qt::CustomContextMenu);
    QObject::connect(plot, &QWidget::customContextMenuRequested, &card,
                     [&card, plot](const QPoint& at) {
                         QContextMenuEvent event(QContextMenuEvent::Mouse, plot->mapTo(&card, at),
                                                 plot->mapToGlobal(at));
                         QCoreApplication::sendEvent(&card, &event);
                     });
    static_cast<QBoxLayout*>(card.layout())->addWidget(plot, 1);
    return plot;
}

QString metricText(double value, MetricFormat format) {
    switch (format) {
    case MetricFormat::kPercent:
        return formatPercent(value);
    case MetricFormat::kBytes:
        return std::isfinite(value) ? formatMemory(std::llround(value)) : kAbsent;
    case MetricFormat::kNumber:
        break;
    }
    return std::abs(value) >= 1000 ? formatCompact(value) : formatFigure(value);
}

QString shortTitle(const QString& title) {
    constexpr int kMost = 40; // characters
    return title.size() > kMost ? title.left(kMost - 1) + QChar(0x2026) : title;
}

QCPItemText* addEmptyText(QCustomPlot& plot) {
    auto* text = new QCPItemText(&plot);
    text->position->setType(QCPItemPosition::ptAxisRectRatio);
    text->position->setCoords(0.5, 0.5);
    return text;
}

void styleEmptyText(QCPItemText& text) {
    text.setFont(Theme::instance().font(FontRole::kSecondary));
    text.setColor(colours().secondary);
}

QSharedPointer<QCPAxisTicker> figureTicker(MetricFormat format) {
    if (format == MetricFormat::kPercent)
        return QSharedPointer<PercentTicker>::create();
    if (format == MetricFormat::kBytes)
        return QSharedPointer<BytesTicker>::create();
    return QSharedPointer<FigureTicker>::create();
}

QSharedPointer<QCPAxisTicker> logTicker() {
    return QSharedPointer<LogFigureTicker>::create();
}

QSharedPointer<QCPAxisTicker> xTicker(XAxis axis) {
    if (axis == XAxis::kStep)
        return QSharedPointer<StepTicker>::create();
    if (!isTime(axis))
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

Ticks ticksBetween(QCPAxisTicker& ticker, double low, double high) {
    Ticks ticks;
    ticker.generate({low, high}, QLocale::c(), 'g', 6, ticks.at, nullptr, &ticks.labels);
    return ticks;
}

} // namespace rm
