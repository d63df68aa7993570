// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/scatter_plot.h"

#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/plot_style.h"
#include "app/ui/widgets/label.h"

#include <QKeyEvent>
#include <QToolTip>
#include <QVBoxLayout>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace rm {

namespace {
constexpr double kDotRadius = 4.5, kPointedRadius = 7;
constexpr double kReach = 12; ///< pixels from the pointer to a dot's middle
constexpr double kRoom = 0.05;
constexpr int kLeftRoom = 70, kBottomRoom = 42; ///< for ticks and titles
constexpr int kScatterTicks = 5;
constexpr qsizetype kMostTickText = 10; ///< characters
} // namespace

/// The dots, each in its run's colour.
class ScatterDots : public QCPLayerable {
public:
    struct Dot {
        double x, y; ///< shares of the axes; NaN: none
        int colour;
    };

    explicit ScatterDots(QCustomPlot* plot)
        : QCPLayerable(plot, "overlay") {}

    QPointF pixelOf(const Dot& dot) const {
        return {mParentPlot->xAxis->coordToPixel(dot.x), mParentPlot->yAxis->coordToPixel(dot.y)};
    }
    static bool isThere(const Dot& dot) { return !std::isnan(dot.x) && !std::isnan(dot.y); }

    std::vector<Dot> dots;
    std::optional<size_t> pointed;

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override {
        painter->setAntialiasing(true);
    }
    void draw(QCPPainter* painter) override {
        for (const Dot& dot : dots)
            if (isThere(dot))
                drawDot(*painter, dot, kDotRadius);
        if (pointed)
            drawDot(*painter, dots[*pointed], kPointedRadius);
    }

private:
    void drawDot(QCPPainter& painter, const Dot& dot, double radius) const {
        painter.setPen(QPen(colours().card, 1));
        painter.setBrush(colours().series[static_cast<size_t>(dot.colour)]);
        painter.drawEllipse(pixelOf(dot), radius, radius);
    }
};

ScatterPlot::ScatterPlot(QWidget* parent)
    : QFrame(parent) {
    setObjectName("scatterPlot");
    buildUi();
    connect(&Theme::instance(), &Theme::changed, this, &ScatterPlot::applyTheme);
    applyTheme();
}

void ScatterPlot::buildUi() {
    setProperty("role", "card");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(1, 9, 1, 1);
    m_plot = addPlot(*this);
    m_plot->setMinimumHeight(2 * size::kChartMin);
    m_dots = new ScatterDots(m_plot);
    m_empty = addEmptyText(*m_plot);
    connect(m_plot, &QCustomPlot::mouseMove, this,
            [this](QMouseEvent* event) { point(nearestTo(event->position()), true); });
    connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
        if (const auto run = nearestTo(event->position()); run && event->button() == Qt::LeftButton)
            Q_EMIT opened(m_runs[*run].id);
    });
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis})
        axis->setRange(-kRoom, 1 + kRoom);
}

void ScatterPlot::applyTheme() {
    stylePlot(*m_plot);
    m_plot->axisRect()->setMargins({kLeftRoom, 2 * size::kGrid, 4 * size::kGrid, kBottomRoom});
    m_plot->xAxis->grid()->setVisible(true);
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setLabelFont(Theme::instance().font(FontRole::kSecondary));
        axis->setLabelColor(colours().text);
        axis->grid()->setZeroLinePen(QPen(colours().grid, 1));
    }
    styleEmptyText(*m_empty);
    place();
}

void ScatterPlot::setEmptyText(const QString& why) {
    m_empty->setText(why);
}

void ScatterPlot::show(std::vector<PlottedRun> runs, const PlotScale& x, const PlotScale& y) {
    const QString pointed = pointedRun();
    m_runs = std::move(runs);
    m_x = x;
    m_y = y;
    m_dots->dots.clear();
    for (size_t run = 0; run < m_runs.size(); ++run)
        m_dots->dots.push_back(
            {x.shareOf(x.scale.values[run]), y.shareOf(y.scale.values[run]), m_runs[run].colour});
    const auto again = std::ranges::find(m_runs, pointed, &PlottedRun::id);
    m_pointed.reset();
    if (again != m_runs.end())
        m_pointed = static_cast<size_t>(again - m_runs.begin());
    m_dots->pointed = m_pointed;
    place();
    describe();
}

void ScatterPlot::place() {
    const auto label = [](QCPAxis& axis, const PlotScale& scale) {
        const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
        for (const ScaleTick& tick : ticksOf(scale, kScatterTicks))
            ticker->addTick(tick.share, tick.text.size() > kMostTickText
                                            ? tick.text.left(kMostTickText - 1) + QChar(0x2026)
                                            : tick.text);
        axis.setTicker(ticker);
        axis.setLabel(scale.title);
    };
    label(*m_plot->xAxis, m_x);
    label(*m_plot->yAxis, m_y);
    const bool isEmpty = dots() == 0;
    m_empty->setVisible(isEmpty);
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setTickLabels(!isEmpty);
        axis->grid()->setVisible(!isEmpty);
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

size_t ScatterPlot::dots() const {
    return static_cast<size_t>(std::ranges::count_if(m_dots->dots, &ScatterDots::isThere));
}

std::optional<QPoint> ScatterPlot::pixelOf(const QString& run) const {
    const auto found = std::ranges::find(m_runs, run, &PlottedRun::id);
    if (found == m_runs.end())
        return std::nullopt;
    const auto& dot = m_dots->dots[static_cast<size_t>(found - m_runs.begin())];
    return ScatterDots::isThere(dot) ? std::optional(m_dots->pixelOf(dot).toPoint()) : std::nullopt;
}

QString ScatterPlot::pointedRun() const {
    return m_pointed ? m_runs[*m_pointed].id : QString();
}

std::optional<size_t> ScatterPlot::nearestTo(const QPointF& pixel) const {
    std::optional<size_t> best;
    double distance = kReach;
    for (size_t run = 0; run < m_runs.size(); ++run) {
        const auto& dot = m_dots->dots[run];
        if (!ScatterDots::isThere(dot))
            continue;
        if (const double away = QLineF(m_dots->pixelOf(dot), pixel).length(); away <= distance) {
            distance = away;
            best = run;
        }
    }
    return best;
}

QString ScatterPlot::textOf(size_t run) const {
    return tr("%1: %2 %3, %4 %5")
        .arg(m_runs[run].name, m_x.title, m_x.textOf(m_x.scale.values[run]), m_y.title,
             m_y.textOf(m_y.scale.values[run]));
}

void ScatterPlot::point(std::optional<size_t> run, bool isByMouse) {
    if (std::exchange(m_pointed, run) == run && isByMouse)
        return;
    m_dots->pointed = run;
    m_plot->setCursor(run && isByMouse ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (run)
        QToolTip::showText(m_plot->mapToGlobal(m_dots->pixelOf(m_dots->dots[*run]).toPoint()),
                           asPlain(textOf(*run)), m_plot);
    else
        QToolTip::hideText();
    describe();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

/// The next dot to the right (1) or left (-1).
void ScatterPlot::pointBeside(int direction) {
    std::vector<size_t> order;
    for (size_t run = 0; run < m_runs.size(); ++run)
        if (ScatterDots::isThere(m_dots->dots[run]))
            order.push_back(run);
    if (order.empty())
        return;
    std::ranges::stable_sort(order, {}, [this](size_t run) {
        return std::pair(m_dots->dots[run].x, m_dots->dots[run].y);
    });
    const auto at = m_pointed ? std::ranges::find(order, *m_pointed) : order.end();
    const auto count = static_cast<std::ptrdiff_t>(order.size());
    std::ptrdiff_t next = direction > 0 ? 0 : count - 1;
    if (at != order.end())
        next = std::clamp<std::ptrdiff_t>(at - order.begin() + direction, 0, count - 1);
    point(order[static_cast<size_t>(next)], false);
}

bool ScatterPlot::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Leave)
        point(std::nullopt, true);
    if (event->type() != QEvent::KeyPress)
        return QFrame::eventFilter(watched, event);
    switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Right:
    case Qt::Key_Down:
        pointBeside(1);
        return true;
    case Qt::Key_Left:
    case Qt::Key_Up:
        pointBeside(-1);
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_pointed)
            Q_EMIT opened(m_runs[*m_pointed].id);
        return true;
    default:
        return QFrame::eventFilter(watched, event);
    }
}

void ScatterPlot::describe() {
    m_plot->setAccessibleName(tr("%1 against %2").arg(m_y.title, m_x.title));
    m_plot->setAccessibleDescription(
        dots() == 0 ? m_empty->text()
        : m_pointed ? textOf(*m_pointed)
                    : tr("%1; arrow keys walk along them, Enter opens one")
                          .arg(counted(static_cast<int64_t>(dots()), tr("1 run"), tr("%1 runs"))));
}

} // namespace rm
