// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/line_chart.h"

#include "app/ui/format.h"
#include "app/ui/plot/chart_legend.h"
#include "app/ui/plot/overlay.h"
#include "app/ui/plot/plot_style.h"
#include "app/ui/plot/table_twin.h"
#include "app/ui/theme.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QToolTip>
#include <QVBoxLayout>

namespace rm {

namespace {

constexpr double kRawAlpha = 0.27;
constexpr double kBandAlpha = 0.15;
constexpr double kHeadroom = 0.06;

QColor faded(QColor colour, double alpha) {
    colour.setAlphaF(static_cast<float>(alpha));
    return colour;
}

/// Lowest and highest finite value with x in sight.
struct Extent {
    double low = qInf(), high = -qInf();

    void add(const QVector<double>& x, const QVector<double>& y, const ChartView& view) {
        for (qsizetype i = 0; i < y.size(); ++i)
            if (std::isfinite(y[i]) && x[i] >= view.low && x[i] <= view.high &&
                (!view.logY || y[i] > 0)) {
                low = std::min(low, y[i]);
                high = std::max(high, y[i]);
            }
    }
};

/// Index of the last x that is not beyond `at`, or -1.
qsizetype indexAt(const Curve& curve, double at) {
    const auto after = std::upper_bound(curve.x.begin(), curve.x.end(), at);
    return after - curve.x.begin() - 1;
}

bool sameShape(const std::vector<Curve>& a, const std::vector<Curve>& b) {
    return std::ranges::equal(a, b, [](const Curve& one, const Curve& two) {
        return one.name == two.name && one.colour == two.colour &&
               one.raw.isEmpty() == two.raw.isEmpty() && one.low.isEmpty() == two.low.isEmpty();
    });
}

} // namespace

LineChart::LineChart(const QString& title, const char* objectName, QWidget* parent)
    : QFrame(parent)
    , m_title(makeLabel({}, "chartTitle")) {
    setObjectName(objectName);
    buildUi();
    setTitle(title);
    wire();
    applyTheme();
}

void LineChart::setTitle(const QString& title) {
    m_title->setText(title);
    m_plot->setAccessibleName(title);
    setAccessibleName(title);
}

void LineChart::buildUi() {
    setProperty("role", "card");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(1, 9, 1, 1);
    column->setSpacing(2);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(12, 0, 12, 0);
    head->setSpacing(size::kCardGap);
    m_values = new ChartLegend;
    head->addWidget(m_title);
    head->addWidget(m_values, 1);
    column->addLayout(head);

    m_plot = new QCustomPlot;
    m_plot->setObjectName("plot");
    m_plot->setMinimumHeight(size::kChartMin - 40);
    m_plot->addLayer("pointer", m_plot->layer("overlay"), QCustomPlot::limAbove);
    m_plot->layer("pointer")->setMode(QCPLayer::lmBuffered);
    m_marks = new MarkLines(m_plot);
    m_crosshair = new Crosshair(m_plot);
    m_empty = new QCPItemText(m_plot);
    m_empty->position->setType(QCPItemPosition::ptAxisRectRatio);
    m_empty->position->setCoords(0.5, 0.5);
    m_empty->setText(tr("no points yet"));
    m_plot->setSelectionRect(new ColumnSelection(m_plot));
    m_plot->setSelectionRectMode(QCP::srmCustom);
    m_plot->setFocusPolicy(Qt::StrongFocus);
    column->addWidget(m_plot, 1);
}

void LineChart::wire() {
    connect(m_plot, &QCustomPlot::mouseMove, this,
            [this](QMouseEvent* event) { onMouseMove(event->position()); });
    connect(m_plot, &QCustomPlot::mouseDoubleClick, this, &LineChart::resetAsked);
    connect(m_plot->selectionRect(), &QCPSelectionRect::accepted, this, [this](const QRect& rect) {
        if (rect.width() > 2 * size::kGrid)
            Q_EMIT zoomAsked(m_plot->xAxis->pixelToCoord(rect.left()),
                             m_plot->xAxis->pixelToCoord(rect.right()));
    });
    connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
        if (const Mark* mark = m_marks->nearest(event->position().x()))
            Q_EMIT markClicked(mark->step);
    });
    connect(&Theme::instance(), &Theme::changed, this, &LineChart::applyTheme);
    m_plot->installEventFilter(this);
}

void LineChart::applyTheme() {
    stylePlot(*m_plot);
    m_plot->yAxis->setTicker(m_view.logY ? logTicker() : figureTicker());
    m_plot->xAxis->setTicker(xTicker(m_view.axis));
    m_empty->setFont(Theme::instance().font(FontRole::kSecondary));
    m_empty->setColor(colours().secondary);
    rebuildGraphs();
    showValues(std::nullopt);
}

void LineChart::rebuildGraphs() {
    m_plot->clearGraphs();
    for (const Curve& curve : m_curves)
        addGraphs(curve);
    fillGraphs();
}

void LineChart::addGraphs(const Curve& curve) {
    const QColor colour = colours().series[static_cast<size_t>(curve.colour)];
    if (!curve.low.isEmpty()) {
        QCPGraph* low = m_plot->addGraph();
        QCPGraph* high = m_plot->addGraph();
        low->setPen(Qt::NoPen);
        high->setPen(Qt::NoPen);
        high->setBrush(faded(colour, kBandAlpha));
        high->setChannelFillGraph(low);
    }
    if (!curve.raw.isEmpty())
        m_plot->addGraph()->setPen(QPen(faded(colour, kRawAlpha), 1));
    QPen pen(colour, size::kPen, curve.dash);
    pen.setJoinStyle(Qt::RoundJoin);
    m_plot->addGraph()->setPen(pen);
}

void LineChart::fillGraphs() {
    int at = 0;
    for (const Curve& curve : m_curves) {
        if (!curve.low.isEmpty()) {
            m_plot->graph(at++)->setData(curve.x, curve.low, true);
            m_plot->graph(at++)->setData(curve.x, curve.high, true);
        }
        if (!curve.raw.isEmpty())
            m_plot->graph(at++)->setData(curve.x, curve.raw, true);
        m_plot->graph(at++)->setData(curve.x, curve.y, true);
    }
    m_plot->setPlottingHint(QCP::phFastPolylines);
    showEmptiness();
    scaleY();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void LineChart::showEmptiness() {
    const bool empty =
        std::ranges::all_of(m_curves, [](const Curve& curve) { return curve.x.isEmpty(); });
    m_empty->setVisible(empty);
    m_plot->xAxis->setTickLabels(!empty);
    m_plot->yAxis->setTickLabels(!empty);
    m_plot->yAxis->grid()->setVisible(!empty);
}

void LineChart::scaleY() {
    Extent extent;
    for (const Curve& curve : m_curves) {
        extent.add(curve.x, curve.y, m_view);
        extent.add(curve.x, curve.raw, m_view);
        extent.add(curve.x, curve.low, m_view);
        extent.add(curve.x, curve.high, m_view);
    }
    if (extent.low > extent.high)
        extent = {m_view.logY ? 0.1 : 0.0, 1.0};
    if (m_view.logY) {
        const double spread = std::max(1.2, std::pow(extent.high / extent.low, kHeadroom));
        m_plot->yAxis->setRange(extent.low / spread, extent.high * spread);
        return;
    }
    if (m_fromZero)
        extent.low = std::min(0.0, extent.low);
    const double room = std::max((extent.high - extent.low) * kHeadroom,
                                 std::max(std::abs(extent.high), 1e-12) * 1e-3);
    m_plot->yAxis->setRange(m_fromZero && extent.low == 0 ? 0 : extent.low - room,
                            extent.high + room);
}

void LineChart::show(std::vector<Curve> curves, const ChartView& view) {
    const bool same = sameShape(curves, m_curves);
    const bool axisChanged = view.axis != m_view.axis || view.logY != m_view.logY;
    m_curves = std::move(curves);
    m_view = view;
    if (axisChanged) {
        m_plot->yAxis->setScaleType(view.logY ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        m_plot->yAxis->setTicker(view.logY ? logTicker() : figureTicker());
        m_plot->xAxis->setTicker(xTicker(view.axis));
    }
    m_plot->xAxis->setRange(view.low, view.high);
    if (same)
        fillGraphs();
    else
        rebuildGraphs();
    showValues(std::nullopt);
    describe();
}

void LineChart::setMarks(const std::vector<Mark>& marks, const ChartView& view) {
    m_marks->setMarks(marks, view.axis, view.startNs);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void LineChart::selectMark(std::optional<int64_t> step) {
    m_marks->setSelectedStep(step);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

int LineChart::plotWidth() const {
    return m_plot->axisRect()->width();
}

void LineChart::setPointer(std::optional<double> x) {
    std::vector<std::pair<QPointF, QColor>> dots;
    if (x)
        for (const Curve& curve : m_curves)
            if (const qsizetype at = indexAt(curve, *x); at >= 0 && std::isfinite(curve.y[at]))
                dots.push_back({{curve.x[at], curve.y[at]},
                                colours().series[static_cast<size_t>(curve.colour)]});
    m_crosshair->setX(x);
    m_crosshair->setDots(std::move(dots));
    m_plot->layer("pointer")->replot();
    showValues(x);
}

QString LineChart::valueText(const Curve& curve, qsizetype at) const {
    const auto word = [](double value) {
        return std::abs(value) >= 1000 ? formatCompact(value) : formatFigure(value);
    };
    if (!curve.low.isEmpty())
        return tr("min %1  median %2  max %3")
            .arg(word(curve.low[at]), word(curve.y[at]), word(curve.high[at]));
    if (m_curves.size() > 2)
        return curve.name + ' ' + QString::number(qRound(curve.y[at]));
    return word(curve.y[at]);
}

void LineChart::showValues(std::optional<double> x) {
    std::vector<ChartLegend::Part> parts;
    for (const Curve& curve : m_curves) {
        const qsizetype at = x ? indexAt(curve, *x) : curve.y.size() - 1;
        if (at < 0)
            continue;
        if (x && parts.empty())
            parts.push_back(
                {tr("step %1").arg(formatCount(static_cast<int64_t>(curve.steps[at]))), {}});
        const bool several = m_curves.size() > 1;
        parts.push_back({valueText(curve, at),
                         several ? colours().series[static_cast<size_t>(curve.colour)] : QColor(),
                         curve.dash});
    }
    m_values->setParts(std::move(parts));
}

void LineChart::describe() {
    QStringList lines;
    for (const Curve& curve : m_curves) {
        Extent extent;
        extent.add(curve.x, curve.y, m_view);
        if (!curve.y.isEmpty())
            lines << tr("%1: last %2, between %3 and %4")
                         .arg(curve.name, formatFigure(curve.y.back()), formatFigure(extent.low),
                              formatFigure(extent.high));
    }
    m_plot->setAccessibleDescription(lines.isEmpty() ? tr("no points yet") : lines.join("; "));
}

void LineChart::onMouseMove(const QPointF& position) {
    const Mark* mark = m_marks->nearest(position.x());
    if (mark)
        QToolTip::showText(m_plot->mapToGlobal(position.toPoint()), mark->text, m_plot);
    else if (m_overMark)
        QToolTip::hideText();
    m_overMark = mark != nullptr;
    Q_EMIT pointed(m_plot->xAxis->pixelToCoord(position.x()));
}

bool LineChart::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Leave)
        Q_EMIT pointed(std::nullopt);
    return QFrame::eventFilter(watched, event);
}

void LineChart::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    menu.addAction(tr("Show as table"), this,
                   [this] { showTableTwin(m_title->text(), m_curves, this); });
    menu.addAction(tr("Reset zoom"), this, &LineChart::resetAsked);
    menu.exec(event->globalPos());
}

} // namespace rm
