// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/line_chart.h"

#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/overlay.h"
#include "app/ui/plot/plot_style.h"
#include "app/ui/plot/table_twin.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QToolTip>
#include <QVBoxLayout>

namespace rm {

namespace {

constexpr double kRawAlpha = 0.27;
constexpr double kBandAlpha = 0.15;
constexpr double kEdgeAlpha = 0.35; ///< of a band: it shows one value among many, too
constexpr double kPastEdgeAlpha = 0.18;
constexpr double kPastAlpha = 0.5;
constexpr double kPastPen = 1.2;
constexpr double kHeadroom = 0.06;
constexpr double kLeastRoom = 0.02; ///< share of the value, if all are equal
constexpr double kPointSize = 5;
constexpr double kOutliers = 0.02; ///< share of the points at either end
constexpr size_t kLeastForOutliers = 20;
constexpr double kSamePlacePixels = 4;
constexpr double kThinPen = 1;
constexpr int kLeastLegend = 80; ///< pixels beside a long title
constexpr size_t kFew = 3;       ///< lines whose values are written in full
constexpr size_t kMostNamed = 5; ///< of more lines only the lowest and the highest are named

QColor faded(QColor colour, double alpha) {
    colour.setAlphaF(static_cast<float>(alpha));
    return colour;
}

bool isInSight(double x, double y, const ChartView& view) {
    return std::isfinite(y) && x >= view.low && x <= view.high && (!view.logY || y > 0);
}

/// Index of the drawn point that is nearest to `x`, or -1.
qsizetype nearestTo(const Curve& curve, double x) {
    const auto after = std::lower_bound(curve.x.begin(), curve.x.end(), x);
    if (after == curve.x.begin() || (after != curve.x.end() && *after - x < x - *(after - 1)))
        return curve.x.isEmpty() ? -1 : after - curve.x.begin();
    return after - curve.x.begin() - 1;
}

std::optional<std::pair<const Curve*, qsizetype>> nearestPoint(const std::vector<Curve>& curves,
                                                               double x) {
    std::optional<std::pair<const Curve*, qsizetype>> best;
    for (const Curve& curve : curves)
        if (const qsizetype at = nearestTo(curve, x);
            at >= 0 &&
            (!best || std::abs(curve.x[at] - x) < std::abs(best->first->x[best->second] - x)))
            best = {&curve, at};
    return best;
}

QString stepText(double step) {
    return LineChart::tr("step %1").arg(formatCount(static_cast<int64_t>(step)));
}

/// Only the points of `y` without a neighbour, which a line would not show.
QVector<double> lonely(const QVector<double>& y) {
    QVector<double> points(y.size(), qQNaN());
    for (qsizetype i = 0; i < y.size(); ++i)
        if ((i == 0 || std::isnan(y[i - 1])) && (i + 1 == y.size() || std::isnan(y[i + 1])))
            points[i] = y[i];
    return points;
}

/// With `mark` before each point that no line leads to.
QVector<double> broken(const Curve& curve, QVector<double> values, auto mark) {
    for (auto at = curve.breaks.rbegin(); at != curve.breaks.rend(); ++at)
        values.insert(*at, mark(values[*at]));
    return values;
}

/// A line is broken where a point has no value.
QVector<double> brokenX(const Curve& curve) {
    return broken(curve, curve.x, [](double x) { return x; });
}

QVector<double> brokenY(const Curve& curve, const QVector<double>& values) {
    return broken(curve, values, [](double) { return qQNaN(); });
}

bool isWithin(const Curve& curve, int64_t step) {
    const auto at = static_cast<double>(step);
    return !curve.steps.isEmpty() && curve.steps.front() <= at && at <= curve.steps.back();
}

QColor colourOf(const Curve& curve) {
    const auto& series = colours().series;
    const QColor colour = series[static_cast<size_t>(curve.colour) % series.size()];
    return curve.past == Past::kNone ? colour : faded(colour, kPastAlpha);
}

QPen penOf(const Curve& curve) {
    QPen pen(colourOf(curve), curve.past == Past::kNone ? size::kPen : kPastPen,
             curve.past == Past::kParent ? Qt::DashLine : curve.dash);
    pen.setJoinStyle(Qt::RoundJoin);
    return pen;
}

/// A shorter text, if room is scarce.
QString shortWord(double value, MetricFormat format) {
    const double size = std::abs(value);
    return format != MetricFormat::kNumber || size >= 1000 || size < 1
               ? metricText(value, format)
               : QString::number(value, 'f', size >= 10 ? 0 : 1);
}

/// Of the vertical axis: plain numbers where curves are of several units.
MetricFormat formatOf(const std::vector<Curve>& curves) {
    const MetricFormat first = curves.front().format;
    const bool isOne =
        std::ranges::all_of(curves, [first](const Curve& each) { return each.format == first; });
    return isOne ? first : MetricFormat::kNumber;
}

bool sameShape(const std::vector<Curve>& a, const std::vector<Curve>& b) {
    return std::ranges::equal(a, b, [](const Curve& one, const Curve& two) {
        return one.name == two.name && one.brief == two.brief && one.colour == two.colour &&
               one.past == two.past && one.raw.isEmpty() == two.raw.isEmpty() &&
               one.low.isEmpty() == two.low.isEmpty();
    });
}

} // namespace

/// Lowest and highest finite value with x in sight.
struct LineChart::Extent {
    double low = qInf(), high = -qInf();

    void add(const QVector<double>& x, const QVector<double>& y, const ChartView& view) {
        for (qsizetype i = 0; i < y.size(); ++i)
            if (isInSight(x[i], y[i], view)) {
                low = std::min(low, y[i]);
                high = std::max(high, y[i]);
            }
    }
};

LineChart::LineChart(const QString& title, const char* objectName, QWidget* parent)
    : QFrame(parent)
    , m_title(new ElidedLabel({}, "chartTitle")) {
    setObjectName(objectName);
    buildUi();
    setTitle(title);
    wire();
    applyTheme();
}

void LineChart::setTitle(const QString& title, const QString& explanation) {
    m_title->setFullText(title);
    m_title->setToolTip(explanation.isEmpty() ? asPlain(title)
                                              : asHtml(title) + "<br>" + explanation);
    m_plot->setAccessibleName(title);
    setAccessibleName(title);
}

void LineChart::setEmptyText(const QString& why) {
    m_empty->setText(why.isEmpty() ? tr("no points yet") : why);
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
    m_values->setMinimumWidth(kLeastLegend);
    head->addWidget(m_title);
    head->addWidget(m_values, 1);
    column->addLayout(head);

    m_plot = addPlot(*this);
    m_plot->setMinimumHeight(size::kChartMin - 40);
    m_plot->addLayer("pointer", m_plot->layer("overlay"), QCustomPlot::limAbove);
    m_plot->layer("pointer")->setMode(QCPLayer::lmBuffered);
    m_marks = new MarkLines(m_plot);
    m_crosshair = new Crosshair(m_plot);
    m_empty = addEmptyText(*m_plot);
    setEmptyText({});
    m_plot->setSelectionRect(new ColumnSelection(m_plot));
    m_plot->setSelectionRectMode(QCP::srmCustom);
}

void LineChart::wire() {
    connect(m_plot, &QCustomPlot::mouseMove, this,
            [this](QMouseEvent* event) { onMouseMove(event->position()); });
    connect(m_plot, &QCustomPlot::mouseDoubleClick, this, &LineChart::resetRequested);
    connect(m_plot->selectionRect(), &QCPSelectionRect::accepted, this, [this](const QRect& drawn) {
        m_plot->replot(QCustomPlot::rpQueuedReplot); // without the band
        const QRect rect = drawn.normalized() & m_plot->axisRect()->rect();
        if (rect.width() > 2 * size::kGrid)
            Q_EMIT zoomRequested(m_plot->xAxis->pixelToCoord(rect.left()),
                                 m_plot->xAxis->pixelToCoord(rect.right()));
    });
    connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
        if (const Mark* mark = m_marks->nearest(event->position()))
            Q_EMIT markClicked(mark->step);
    });
    connect(&Theme::instance(), &Theme::changed, this, &LineChart::applyTheme);
}

void LineChart::applyTheme() {
    stylePlot(*m_plot);
    m_plot->yAxis->setTicker(yTicker());
    m_plot->xAxis->setTicker(xTicker(m_view.map.axis));
    styleEmptyText(*m_empty);
    rebuildGraphs();
    showPointer();
}

void LineChart::rebuildGraphs() {
    m_plot->clearGraphs();
    for (const Curve& curve : m_curves)
        addGraphs(curve);
    fillGraphs();
}

void LineChart::addGraphs(const Curve& curve) {
    const QColor colour = colourOf(curve);
    if (!curve.low.isEmpty()) {
        QCPGraph* low = m_plot->addGraph();
        QCPGraph* high = m_plot->addGraph();
        const QPen edge(faded(colour, curve.past == Past::kNone ? kEdgeAlpha : kPastEdgeAlpha), 1);
        low->setPen(edge);
        high->setPen(edge);
        high->setBrush(faded(colour, kBandAlpha));
        high->setChannelFillGraph(low);
    }
    if (!curve.raw.isEmpty())
        m_plot->addGraph()->setPen(QPen(faded(colour, kRawAlpha), 1));
    QPen pen = penOf(curve);
    if (ownCurves() > kMostNamed)
        pen.setWidthF(kThinPen);
    m_plot->addGraph()->setPen(pen);
    QCPGraph* points = m_plot->addGraph();
    points->setLineStyle(QCPGraph::lsNone);
    points->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, colour, kPointSize));
}

size_t LineChart::ownCurves() const {
    return static_cast<size_t>(std::ranges::count(m_curves, Past::kNone, &Curve::past));
}

void LineChart::fillGraphs() {
    int at = 0;
    for (const Curve& curve : m_curves) {
        const QVector<double> x = brokenX(curve), y = brokenY(curve, curve.y);
        if (!curve.low.isEmpty()) {
            m_plot->graph(at++)->setData(x, brokenY(curve, curve.low), true);
            m_plot->graph(at++)->setData(x, brokenY(curve, curve.high), true);
        }
        if (!curve.raw.isEmpty())
            m_plot->graph(at++)->setData(x, brokenY(curve, curve.raw), true);
        m_plot->graph(at++)->setData(x, y, true);
        m_plot->graph(at++)->setData(x, lonely(y), true);
    }
    m_plot->setPlottingHint(QCP::phFastPolylines);
    showEmptiness();
    scaleY();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void LineChart::showEmptiness() {
    const bool empty =
        std::ranges::all_of(m_curves, [](const Curve& curve) { return curve.x.isEmpty(); });
    m_empty->setVisible(empty && m_isRead);
    m_plot->xAxis->setTickLabels(!empty);
    m_plot->yAxis->setTickLabels(!empty);
    m_plot->yAxis->grid()->setVisible(!empty);
}

void LineChart::setYRange(const AxisRange& range) {
    if (std::exchange(m_yRange, range) != range)
        fillGraphs();
}

void LineChart::setCutsOutliers(bool cuts) {
    if (std::exchange(m_cutsOutliers, cuts) != cuts)
        fillGraphs();
}

std::pair<double, double> LineChart::shownY() const {
    const QCPRange range = m_plot->yAxis->range();
    return {range.lower, range.upper};
}

/// Of what is drawn in sight.
LineChart::Extent LineChart::wholeExtent() const {
    Extent extent;
    for (const Curve& curve : m_curves)
        for (const auto* values : {&curve.y, &curve.raw, &curve.low, &curve.high})
            extent.add(curve.x, *values, m_view);
    return extent;
}

/// Of what is in sight but the most extreme of the values that were measured.
LineChart::Extent LineChart::commonExtent() const {
    std::vector<double> values;
    for (const Curve& curve : m_curves) {
        const QVector<double>& measured = curve.raw.isEmpty() ? curve.y : curve.raw;
        for (qsizetype i = 0; i < measured.size(); ++i)
            if (isInSight(curve.x[i], measured[i], m_view))
                values.push_back(measured[i]);
    }
    if (values.size() < kLeastForOutliers)
        return wholeExtent();
    std::ranges::sort(values);
    const auto at = [&values](double share) {
        return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
    };
    return {at(kOutliers), at(1 - kOutliers)};
}

/// An end that a person has set counts, unless the other one, or a logarithm, rules it out.
void LineChart::scaleY() {
    scaleYByCurves();
    QCPRange range = m_plot->yAxis->range();
    const auto canBe = [this](double end) { return !m_view.logY || end > 0; };
    if (m_yRange.low && canBe(*m_yRange.low))
        range.lower = *m_yRange.low;
    if (m_yRange.high && canBe(*m_yRange.high))
        range.upper = *m_yRange.high;
    if (range.lower < range.upper)
        m_plot->yAxis->setRange(range);
}

void LineChart::scaleYByCurves() {
    Extent extent = m_cutsOutliers ? commonExtent() : wholeExtent();
    const bool isZero = extent.low == 0 && extent.high == 0; // whose scale nothing tells
    if (extent.low > extent.high || isZero)
        extent = {m_view.logY ? 0.1 : 0.0, 1.0};
    if (m_view.logY) {
        const double spread = std::max(1.2, std::pow(extent.high / extent.low, kHeadroom));
        m_plot->yAxis->setRange(extent.low / spread, extent.high * spread);
        return;
    }
    if (m_fromZero)
        extent.low = std::min(0.0, extent.low);
    const double room = std::max((extent.high - extent.low) * kHeadroom,
                                 std::max(std::abs(extent.high), 1e-12) * kLeastRoom);
    m_plot->yAxis->setRange((m_fromZero || isZero) && extent.low == 0 ? 0 : extent.low - room,
                            extent.high + room);
}

void LineChart::setUnread(const ChartView& view) {
    show({}, view);
    m_isRead = false;
    showEmptiness();
    describe();
}

void LineChart::show(std::vector<Curve> curves, const ChartView& view) {
    m_isRead = true;
    const bool same = sameShape(curves, m_curves);
    const MetricFormat format = curves.empty() ? m_format : formatOf(curves);
    const bool axisChanged = view.map.axis != m_view.map.axis || view.logY != m_view.logY ||
                             std::exchange(m_format, format) != format;
    if (view.map.axis != m_view.map.axis ||
        (m_pointer && (*m_pointer < view.low || *m_pointer > view.high)))
        m_pointer.reset();
    m_curves = std::move(curves);
    m_view = view;
    if (axisChanged) {
        m_plot->yAxis->setScaleType(view.logY ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        m_plot->yAxis->setTicker(yTicker());
        m_plot->xAxis->setTicker(xTicker(view.map.axis));
    }
    m_plot->xAxis->setRange(view.low, view.high);
    if (same)
        fillGraphs();
    else
        rebuildGraphs();
    placeMarks();
    showPointer();
    describe();
}

QSharedPointer<QCPAxisTicker> LineChart::yTicker() const {
    return m_view.logY ? logTicker() : figureTicker(m_format);
}

void LineChart::setMarks(const std::vector<Mark>& marks) {
    m_allMarks = marks;
    placeMarks();
}

void LineChart::placeMarks() {
    m_lineMarks.clear();
    m_curveMarks.clear();
    for (const Mark& mark : m_allMarks) {
        if (!mark.retired)
            m_lineMarks.push_back(mark);
        else if (const auto place = placeOf(mark))
            m_curveMarks.emplace_back(*place, mark);
    }
    m_marks->setMarks(m_lineMarks, m_view.map);
    m_marks->setRings(m_curveMarks);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

/// The mark's place on the abandoned curve of its attempt.
std::optional<QPointF> LineChart::placeOf(const Mark& mark) const {
    const double x = xOf(m_view.map, mark.step, mark.wallNs);
    for (const Curve& curve : m_curves)
        if (curve.past == Past::kAbandoned && curve.attempt == mark.attempt)
            if (const qsizetype at = nearestTo(curve, x);
                at >= 0 && isWithin(curve, mark.step) && std::isfinite(curve.y[at]))
                return QPointF(curve.x[at], curve.y[at]);
    return std::nullopt;
}

void LineChart::selectMark(std::optional<int64_t> step) {
    m_marks->setSelectedStep(step);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QPoint LineChart::pixelOf(double x, double y) const {
    return {qRound(m_plot->xAxis->coordToPixel(x)), qRound(m_plot->yAxis->coordToPixel(y))};
}

std::vector<std::pair<QString, QPen>> LineChart::namedLines() const {
    std::vector<std::pair<QString, QPen>> lines;
    for (const Curve& curve : m_curves)
        if (!curve.x.isEmpty())
            lines.emplace_back(titleOf(curve), penOf(curve));
    return lines;
}

int LineChart::plotWidth() const {
    return m_plot->axisRect()->width();
}

void LineChart::setPointer(std::optional<double> x, std::optional<double> step) {
    m_pointer = x;
    m_pointerStep = step;
    showPointer();
}

void LineChart::showExact(double step, std::vector<Curve> exact) {
    m_exactStep = step;
    m_exact = std::move(exact);
    showValues();
}

/// Of what was measured at the pointer's step, if that is known.
std::optional<LineChart::Place> LineChart::exactOf(const Curve& curve) const {
    if (!isExact() || curve.past != Past::kNone)
        return std::nullopt;
    for (const Curve& exact : m_exact)
        if (exact.name == curve.name && exact.brief == curve.brief && exact.past == Past::kNone)
            if (const qsizetype at = exact.steps.indexOf(*m_exactStep); at >= 0)
                return Place(&exact, at);
    return std::nullopt;
}

/// The point whose values are shown for a point of a curve.
LineChart::Place LineChart::valuesOf(const Curve& curve, qsizetype at) const {
    return exactOf(curve).value_or(Place(&curve, at));
}

double LineChart::shownValue(const Curve& curve) const {
    const qsizetype at = pointAt(curve);
    if (at < 0)
        return qQNaN();
    const auto [values, place] = valuesOf(curve, at);
    return curve.window > 0 ? curve.y[at] : values->y[place];
}

void LineChart::showPointer() {
    std::vector<std::pair<QPointF, QColor>> dots;
    for (const Curve& curve : m_curves) {
        const qsizetype at = m_pointer ? pointAt(curve) : -1;
        if (at >= 0 && !curve.raw.isEmpty() && std::isfinite(curve.raw[at]))
            dots.push_back({{curve.x[at], curve.raw[at]}, faded(colourOf(curve), kRawAlpha)});
        if (at >= 0 && std::isfinite(curve.y[at]))
            dots.push_back({{curve.x[at], curve.y[at]}, colourOf(curve)});
    }
    const auto step = pointedStep();
    m_crosshair->setX(step ? m_pointer : std::nullopt, step ? stepText(*step) : QString());
    m_crosshair->setDots(std::move(dots));
    m_plot->layer("pointer")->replot();
    showValues();
}

/// The point of a curve whose value is shown: the last one in sight, or the nearest to the pointer;
/// -1: nothing is drawn there.
qsizetype LineChart::pointAt(const Curve& curve) const {
    if (curve.x.isEmpty())
        return -1;
    if (!m_pointer) {
        const auto end = std::upper_bound(curve.x.begin(), curve.x.end(), m_view.high);
        return std::max<qsizetype>(0, end - curve.x.begin() - 1);
    }
    const double near =
        m_plot->xAxis->pixelToCoord(kSamePlacePixels) - m_plot->xAxis->pixelToCoord(0);
    const bool isThere =
        curve.x.front() - near <= *m_pointer && *m_pointer <= curve.x.back() + near;
    return isThere ? nearestTo(curve, *m_pointer) : -1;
}

std::optional<double> LineChart::pointedStep() const {
    if (!m_pointer || m_pointerStep)
        return m_pointer ? m_pointerStep : std::nullopt;
    const auto nearest = nearestPoint(m_curves, *m_pointer);
    return nearest ? std::optional(nearest->first->steps[nearest->second]) : std::nullopt;
}

/// Whether it ends well before the others, as that of a rank of which nothing is heard.
bool LineChart::isBehind(const Curve& curve) const {
    constexpr double kFar = 0.02; ///< of the visible range
    double end = curve.x.back();
    for (const Curve& each : m_curves)
        if (each.past == Past::kNone && !each.x.isEmpty())
            end = std::max(end, each.x.back());
    return curve.past == Past::kNone && end - curve.x.back() > kFar * (m_view.high - m_view.low);
}

/// Of many lines only these two are named.
QString LineChart::extremeText(const Curve& curve) const {
    if (ownCurves() <= kMostNamed || curve.past != Past::kNone)
        return {};
    const auto own = namedCurves();
    const auto isOwn = [](const Curve* each) { return each->past == Past::kNone; };
    const auto first = std::ranges::find_if(own, isOwn);
    return (first != own.end() && *first == &curve ? tr("low") : tr("high")) + ' ';
}

/// What the band around a line spans; empty: it has none, or its values name the ranks.
QString LineChart::bandText(const Curve& curve, qsizetype at) const {
    const auto [values, place] = valuesOf(curve, at);
    if (curve.past != Past::kNone || values->low.isEmpty() || !values->lowRank.isEmpty())
        return {};
    return tr("band of %1: least %2, most %3")
        .arg(titleOf(curve), metricText(values->low[place], curve.format),
             metricText(values->high[place], curve.format));
}

/// The step of a value that is not directly under the pointer.
QString LineChart::placeText(const Curve& curve, qsizetype at, std::optional<double> step) const {
    const auto pixel = [this](double x) { return m_plot->xAxis->coordToPixel(x); };
    if (!m_pointer)
        return isBehind(curve) ? ' ' + tr("at %1").arg(formatCount(qRound64(curve.steps[at])))
                               : QString();
    if (exactOf(curve) || curve.steps[at] == step ||
        std::abs(pixel(curve.x[at]) - pixel(*m_pointer)) < kSamePlacePixels)
        return {};
    return ' ' + tr("at %1").arg(formatCount(static_cast<int64_t>(curve.steps[at])));
}

std::vector<ChartLegend::Part> LineChart::partsOf(const Curve& curve, qsizetype at) const {
    std::vector<ChartLegend::Part> parts;
    const auto add = [&](const QString& name, double value, const QColor& colour) {
        const bool isOneOfMany = ownCurves() > kFew;
        parts.push_back(
            {(name.isEmpty() ? name : name + ' ') +
                 (isOneOfMany ? shortWord(value, curve.format) : metricText(value, curve.format)),
             colour, penOf(curve).style(), curve.past != Past::kNone});
    };
    const QColor colour = colourOf(curve);
    if (!m_pointer && curve.past != Past::kNone) // its end is not the newest value
        return {{curve.brief, colour, penOf(curve).style(), true}};
    const auto [values, place] = valuesOf(curve, at);
    if (!curve.lowRank.isEmpty() && !values->lowRank.isEmpty())
        add(tr("least, rank %1").arg(values->lowRank[place]), values->low[place], {});
    add(curve.brief, shownValue(curve), colour);
    if (!curve.raw.isEmpty() && curve.isRawNamed && !values->raw.isEmpty())
        add(tr("raw"), values->raw[place], faded(colour, 2 * kRawAlpha));
    if (!curve.highRank.isEmpty() && !values->highRank.isEmpty())
        add(tr("most, rank %1").arg(values->highRank[place]), values->high[place], {});
    return parts;
}

/// The curves that the legend names, past ones first.
std::vector<const Curve*> LineChart::namedCurves() const {
    std::vector<const Curve*> past, own;
    for (const Curve& curve : m_curves)
        if (pointAt(curve) >= 0)
            (curve.past == Past::kNone ? own : past).push_back(&curve);
    if (own.size() > kMostNamed) {
        const auto [low, high] = std::ranges::minmax_element(
            own, {}, [this](const Curve* curve) { return shownValue(*curve); });
        own = {*low, *high};
    }
    past.insert(past.end(), own.begin(), own.end());
    return past;
}

void LineChart::showValues() {
    std::vector<ChartLegend::Part> parts;
    QStringList bands;
    const auto step = pointedStep();
    for (const Curve* curve : namedCurves()) {
        const qsizetype at = pointAt(*curve);
        if (const QString band = bandText(*curve, at); !band.isEmpty())
            bands << band;
        for (ChartLegend::Part part : partsOf(*curve, at)) {
            part.text = extremeText(*curve) + part.text + placeText(*curve, at, step);
            parts.push_back(std::move(part));
        }
    }
    if (parts.size() == 1)
        parts.front().colour = QColor();
    m_valueTexts.clear();
    for (const ChartLegend::Part& part : parts)
        m_valueTexts << part.text;
    m_values->setParts(std::move(parts), step ? stepText(*step) : QString(), bands);
}

void LineChart::describe() {
    QStringList lines;
    for (const Curve& curve : m_curves) {
        Extent extent;
        for (const QVector<double>& values : {curve.y, curve.low, curve.high})
            extent.add(curve.x, values, m_view);
        if (!curve.y.isEmpty())
            lines << tr("%1: last %2, between %3 and %4")
                         .arg(titleOf(curve), metricText(curve.y.back(), curve.format),
                              metricText(extent.low, curve.format),
                              metricText(extent.high, curve.format));
    }
    m_plot->setAccessibleDescription(!lines.isEmpty() ? lines.join("; ")
                                     : m_isRead       ? m_empty->text()
                                                      : QString());
}

void LineChart::onMouseMove(const QPointF& position) {
    const Mark* mark = m_marks->nearest(position);
    if (mark)
        QToolTip::showText(m_plot->mapToGlobal(position.toPoint()), asPlain(mark->text), m_plot);
    else if (m_overMark)
        QToolTip::hideText();
    m_overMark = mark != nullptr;
    point(m_plot->xAxis->pixelToCoord(position.x()));
}

/// At the nearest visible point, so that the crosshair goes through the value that is shown.
void LineChart::point(double x) {
    const auto nearest = nearestPoint(m_curves, x);
    const double drawn = nearest ? nearest->first->x[nearest->second] : x;
    if (nearest && drawn >= m_view.low && drawn <= m_view.high)
        Q_EMIT pointed(drawn, nearest->first->steps[nearest->second]);
    else
        Q_EMIT pointed(x, std::nullopt);
}

bool LineChart::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Leave)
        Q_EMIT pointed(std::nullopt, std::nullopt);
    return QFrame::eventFilter(watched, event);
}

namespace {

/// The points that a view spans: what is read beside it, for lines that lead into it, is left out.
std::vector<Curve> inSight(std::vector<Curve> curves, const ChartView& view) {
    for (Curve& curve : curves) {
        const auto first = std::lower_bound(curve.x.begin(), curve.x.end(), view.low);
        const auto end = std::upper_bound(first, curve.x.end(), view.high);
        cutTo(curve, first - curve.x.begin(), end - curve.x.begin());
    }
    return curves;
}

} // namespace

void LineChart::contextMenuEvent(QContextMenuEvent* event) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Show as table"), this,
                    [this] { showTableTwin(accessibleName(), inSight(m_curves, m_view), this); });
    menu->addAction(tr("Reset zoom"), this, &LineChart::resetRequested);
    Q_EMIT menuRequested(menu);
    menu->popup(event->globalPos());
}

} // namespace rm
