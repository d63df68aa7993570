// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/trace_view.h"

#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"

#include <QKeyEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rm {

namespace {

constexpr int kLabelWidth = 76;
constexpr int kRightRoom = 10;
constexpr int kAxisHeight = 26;
constexpr int kHeadingHeight = 22;
constexpr int kBarHeight = 20;
constexpr int kLaneHeight = 5;
constexpr int kLanes = 3; ///< of collectives that overlap
constexpr int kRowGap = 8;
constexpr int kTraceRow = kBarHeight + 2 + kLanes * (kLaneHeight + 1) + kRowGap;
constexpr double kDragPixels = 4;
constexpr double kLeastRangeNs = 1000;
constexpr double kWheelStep = 1.25;
constexpr int kLeastTextWidth = 34;

bool isPhase(TraceKind kind) {
    return kind != TraceKind::kStep && !isCollective(kind);
}

/// 1, 2 or 5 times a power of ten: the distance of ticks that are about so many pixels apart.
double tickDistance(double nsPerPixel) {
    constexpr double kPixels = 90;
    const double least = nsPerPixel * kPixels;
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least)
            return factor * power;
    return 10 * power;
}

} // namespace

QColor traceColour(TraceKind kind) {
    const Colours& all = colours();
    switch (kind) {
    case TraceKind::kData:
        return all.series[6];
    case TraceKind::kForward:
        return all.series[0];
    case TraceKind::kBackward:
        return all.series[4];
    case TraceKind::kAllReduceWait:
        return all.series[1];
    case TraceKind::kOptimizer:
        return all.series[2];
    case TraceKind::kCheckpoint:
        return all.series[5];
    case TraceKind::kValidation:
        return all.series[3];
    case TraceKind::kAllReduce:
        return all.series[1];
    case TraceKind::kReduceScatter:
        return all.series[6];
    case TraceKind::kAllGather:
        return all.series[2];
    case TraceKind::kStep:
    case TraceKind::kBoundary:
        break;
    }
    return all.hairline;
}

QString traceKindWords(TraceKind kind) {
    switch (kind) {
    case TraceKind::kStep:
        return TraceView::tr("step");
    case TraceKind::kData:
        return TraceView::tr("data");
    case TraceKind::kForward:
        return TraceView::tr("forward");
    case TraceKind::kBackward:
        return TraceView::tr("backward");
    case TraceKind::kAllReduceWait:
        return TraceView::tr("all-reduce wait");
    case TraceKind::kOptimizer:
        return TraceView::tr("optimizer");
    case TraceKind::kCheckpoint:
        return TraceView::tr("checkpoint");
    case TraceKind::kValidation:
        return TraceView::tr("validation");
    case TraceKind::kBoundary:
        return TraceView::tr("between steps");
    case TraceKind::kAllReduce:
        return TraceView::tr("all-reduce");
    case TraceKind::kReduceScatter:
        return TraceView::tr("reduce-scatter");
    case TraceKind::kAllGather:
        return TraceView::tr("all-gather");
    }
    return {};
}

QString formatNanoseconds(int64_t ns) {
    const double ms = static_cast<double>(ns) / 1e6;
    if (std::abs(ms) >= 1000)
        return TraceView::tr("%1 s").arg(ms / 1000, 0, 'f', 3);
    return TraceView::tr("%1 ms").arg(ms, 0, 'f', std::abs(ms) < 10 ? 3 : 1);
}

TraceView::TraceView(QWidget* parent)
    : QWidget(parent) {
    setObjectName("traceView");
    setAccessibleName(tr("Trace"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
    buildRows();
}

void TraceView::show(std::shared_ptr<const AlignedTrace> trace) {
    const bool isOther = !m_trace || !trace || m_trace->id != trace->id;
    const bool wasWhole =
        !m_trace || (m_begin <= 0 && m_end >= static_cast<double>(m_trace->endNs));
    const bool wasChosen = std::exchange(m_chosen, nullptr) != nullptr;
    m_chosenRank = 0; // the other trace may have fewer
    m_trace = std::move(trace);
    buildRows();
    if (isOther || wasWhole)
        showAll();
    describeAll();
    updateGeometry();
    update();
    if (wasChosen)
        Q_EMIT described({});
}

void TraceView::buildRows() {
    m_rows.clear();
    m_headings.clear();
    m_height = kAxisHeight;
    if (!m_trace)
        return;
    std::string node;
    for (const AlignedRank& rank : m_trace->ranks) {
        if (m_rows.empty() || rank.node != node) {
            node = rank.node;
            m_headings.emplace_back(m_height, QString::fromStdString(node));
            m_height += kHeadingHeight;
        }
        Row row;
        row.top = m_height;
        std::array<int64_t, kLanes> ends{};
        for (const TraceSlice& slice : rank.slices) {
            if (slice.kind == TraceKind::kStep)
                row.steps.push_back(&slice);
            else if (isPhase(slice.kind))
                row.phases.push_back(&slice);
            if (!isCollective(slice.kind))
                continue;
            const auto lane = std::ranges::min_element(ends);
            *lane = slice.endNs();
            row.collectives.emplace_back(&slice, static_cast<int>(lane - ends.begin()));
        }
        m_rows.push_back(std::move(row));
        m_height += kTraceRow;
    }
}

void TraceView::describeAll() {
    if (!m_trace || m_trace->isEmpty()) {
        setAccessibleDescription(tr("Nothing was recorded"));
        return;
    }
    QString text =
        tr("%1 of %2 ranks; ").arg(formatNanoseconds(m_trace->endNs)).arg(m_trace->ranks.size());
    if (const auto waited = waitedFor(waitsOf(*m_trace)))
        text += QString::fromStdString(waitedForWords(*waited)) + QStringLiteral("; ");
    setAccessibleDescription(text + description());
}

QSize TraceView::sizeHint() const {
    return {size::kTableDialogWidth, std::max(m_height, kAxisHeight + kTraceRow)};
}

QSize TraceView::minimumSizeHint() const {
    return {size::kColumnMin, sizeHint().height()};
}

int TraceView::rightEdge() const {
    return std::max(kLabelWidth + 1, width() - kRightRoom);
}

double TraceView::nsAt(double x) const {
    return m_begin + (x - kLabelWidth) / (rightEdge() - kLabelWidth) * (m_end - m_begin);
}

double TraceView::xOf(double ns) const {
    return kLabelWidth + (ns - m_begin) / (m_end - m_begin) * (rightEdge() - kLabelWidth);
}

QPoint TraceView::pixelOf(double ns, size_t rank) const {
    return QPointF(xOf(ns), m_rows[rank].top + kBarHeight / 2).toPoint();
}

void TraceView::zoom(double beginNs, double endNs) {
    const double all = m_trace ? std::max(1.0, static_cast<double>(m_trace->endNs)) : 1;
    const double range = std::clamp(endNs - beginNs, std::min(kLeastRangeNs, all), all);
    m_begin = std::clamp(beginNs, 0.0, all - range);
    m_end = m_begin + range;
    update();
    Q_EMIT zoomed();
}

void TraceView::showAll() {
    zoom(0, m_trace ? static_cast<double>(m_trace->endNs) : 1);
}

void TraceView::zoomBy(double factor, double aroundNs) {
    const double begin = aroundNs - (aroundNs - m_begin) / factor;
    zoom(begin, begin + (m_end - m_begin) / factor);
}

QString TraceView::description() const {
    if (!m_chosen)
        return {};
    const AlignedRank& rank = m_trace->ranks[m_chosenRank];
    QString text =
        tr("rank %1, step %2: %3, %4 from %5 on")
            .arg(rank.rank)
            .arg(formatCount(m_chosen->step), traceKindWords(m_chosen->kind),
                 formatNanoseconds(m_chosen->durationNs), formatNanoseconds(m_chosen->beginNs));
    if (isCollective(m_chosen->kind))
        text += tr(", %1").arg(formatBytes(static_cast<double>(m_chosen->bytes)));
    return text;
}

void TraceView::setChosen(size_t rank, const TraceSlice* slice) {
    if (m_chosen == slice && m_chosenRank == rank)
        return;
    m_chosenRank = rank;
    m_chosen = slice;
    describeAll();
    update();
    Q_EMIT described(description());
}

void TraceView::point(const QPointF& pixel) {
    m_pointer = pixel.x() >= kLabelWidth && pixel.x() <= rightEdge() ? std::optional(pixel.x())
                                                                     : std::nullopt;
    update();
    if (!m_pointer)
        return setChosen(m_chosenRank, nullptr);
    const double ns = nsAt(pixel.x());
    const auto isHit = [ns](const TraceSlice* slice) {
        return static_cast<double>(slice->beginNs) <= ns &&
               static_cast<double>(slice->endNs()) > ns;
    };
    for (size_t rank = 0; rank < m_rows.size(); ++rank) {
        const Row& row = m_rows[rank];
        const double y = pixel.y() - row.top;
        if (y < 0 || y >= kTraceRow)
            continue;
        const TraceSlice* found = nullptr;
        if (y <= kBarHeight) {
            const auto at = std::ranges::find_if(row.phases, isHit);
            found = at == row.phases.end() ? nullptr : *at;
        }
        for (const auto& [slice, lane] : row.collectives) {
            const int top = kBarHeight + 2 + lane * (kLaneHeight + 1);
            if (isHit(slice) && y >= top && y < top + kLaneHeight + 1)
                found = slice;
        }
        return setChosen(rank, found);
    }
    setChosen(m_chosenRank, nullptr);
}

void TraceView::moveChosen(int by) {
    if (m_rows.empty())
        return;
    const auto& phases = m_rows[m_chosenRank].phases;
    if (phases.empty())
        return;
    auto at = std::ranges::find(phases, m_chosen);
    if (at == phases.end()) // the first in sight
        at = std::ranges::find_if(phases, [this](const TraceSlice* slice) {
            return static_cast<double>(slice->endNs()) > m_begin;
        });
    else
        at += std::clamp<ptrdiff_t>(by, phases.begin() - at, phases.end() - 1 - at);
    if (at == phases.end())
        --at;
    setChosen(m_chosenRank, *at);
    const double middle = static_cast<double>((*at)->beginNs + (*at)->endNs()) / 2;
    if (middle < m_begin || middle > m_end)
        zoom(middle - (m_end - m_begin) / 2, middle + (m_end - m_begin) / 2);
    m_pointer = xOf(middle);
}

/// The slice of the other rank at the same moment.
void TraceView::chooseRank(int by) {
    if (m_rows.empty())
        return;
    const auto last = static_cast<int>(m_rows.size()) - 1;
    const auto rank = static_cast<size_t>(std::clamp(static_cast<int>(m_chosenRank) + by, 0, last));
    const double ns = m_chosen ? static_cast<double>(m_chosen->beginNs + m_chosen->endNs()) / 2
                               : (m_begin + m_end) / 2;
    const auto& phases = m_rows[rank].phases;
    const auto at = std::ranges::find_if(
        phases, [ns](const TraceSlice* slice) { return static_cast<double>(slice->endNs()) > ns; });
    setChosen(rank, at == phases.end() ? nullptr : *at);
    if (m_chosen)
        m_pointer = xOf(ns);
}

void TraceView::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && event->position().x() >= kLabelWidth) {
        m_pressed = event->position();
        m_draggedTo = event->position().x();
    }
}

void TraceView::mouseMoveEvent(QMouseEvent* event) {
    if (m_pressed)
        m_draggedTo = std::clamp<double>(event->position().x(), kLabelWidth, rightEdge());
    point(event->position());
}

void TraceView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !m_pressed)
        return;
    m_draggedTo = std::clamp<double>(event->position().x(), kLabelWidth, rightEdge());
    const double from = std::min(m_pressed->x(), m_draggedTo);
    const double to = std::max(m_pressed->x(), m_draggedTo);
    m_pressed.reset();
    if (to - from > kDragPixels)
        zoom(nsAt(from), nsAt(to));
    update();
}

void TraceView::mouseDoubleClickEvent(QMouseEvent*) {
    m_pressed.reset();
    showAll();
}

void TraceView::wheelEvent(QWheelEvent* event) {
    const QPoint turned = event->angleDelta();
    const double notches = (turned.y() != 0 ? turned.y() : turned.x()) / 120.0;
    if (event->modifiers().testFlag(Qt::ControlModifier)) {
        zoomBy(std::pow(kWheelStep, notches), nsAt(event->position().x()));
    } else if (event->modifiers().testFlag(Qt::ShiftModifier) || turned.y() == 0) {
        const double by = -notches * (m_end - m_begin) / 10;
        zoom(m_begin + by, m_end + by);
    } else {
        event->ignore(); // the ranks are scrolled
        return;
    }
    event->accept();
}

void TraceView::keyPressEvent(QKeyEvent* event) {
    const double middle = m_chosen ? static_cast<double>(m_chosen->beginNs + m_chosen->endNs()) / 2
                                   : (m_begin + m_end) / 2;
    switch (event->key()) {
    case Qt::Key_Left:
        return moveChosen(-1);
    case Qt::Key_Right:
        return moveChosen(1);
    case Qt::Key_Up:
        return chooseRank(-1);
    case Qt::Key_Down:
        return chooseRank(1);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoomBy(kWheelStep, middle);
    case Qt::Key_Minus:
        return zoomBy(1 / kWheelStep, middle);
    case Qt::Key_0:
        return showAll();
    default:
        QWidget::keyPressEvent(event);
    }
}

void TraceView::leaveEvent(QEvent* event) {
    QWidget::leaveEvent(event);
    m_pointer.reset();
    setChosen(m_chosenRank, nullptr);
    update();
}

void TraceView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    update();
}

void TraceView::drawAxis(QPainter& painter) const {
    const double distance = tickDistance((m_end - m_begin) / (rightEdge() - kLabelWidth));
    painter.setFont(Theme::instance().font(FontRole::kCaption));
    const int middle = kAxisHeight / 2;
    for (double at = std::ceil(m_begin / distance) * distance; at <= m_end; at += distance) {
        const double x = xOf(at);
        painter.setPen(colours().grid);
        painter.drawLine(QPointF(x, kAxisHeight - 4), QPointF(x, height()));
        painter.setPen(colours().secondary);
        const double ms = at / 1e6;
        const int digits =
            std::clamp(static_cast<int>(-std::floor(std::log10(distance / 1e6))), 0, 6);
        const QString text = tr("%1 ms").arg(ms, 0, 'f', digits);
        const double wide = painter.fontMetrics().horizontalAdvance(text);
        if (x + wide / 2 <= width())
            painter.drawText(QPointF(x - wide / 2, middle + painter.fontMetrics().ascent() / 2.0),
                             text);
    }
}

/// Bars that are narrower than a pixel are drawn once for each pixel.
void TraceView::drawBars(QPainter& painter, const std::vector<const TraceSlice*>& slices, int top,
                         int height) const {
    const auto first = std::ranges::partition_point(slices, [this](const TraceSlice* slice) {
        return static_cast<double>(slice->endNs()) < m_begin;
    });
    double drawnTo = -1;
    for (auto at = first; at != slices.end() && static_cast<double>((*at)->beginNs) <= m_end;
         ++at) {
        const TraceSlice& slice = **at;
        const double left = std::max<double>(kLabelWidth, xOf(static_cast<double>(slice.beginNs)));
        const double right = std::min<double>(rightEdge(), xOf(static_cast<double>(slice.endNs())));
        if (right - left < 1 && right <= drawnTo)
            continue;
        drawnTo = std::max(left + 1, right);
        const QRectF bar(left, top, std::max(1.0, right - left), height);
        painter.fillRect(bar, traceColour(slice.kind));
        if (right - left > 3 && slice.kind != TraceKind::kBoundary)
            painter.fillRect(QRectF(right - 1, top, 1, height), colours().card); // from the next
        if (right - left < kLeastTextWidth || slice.kind == TraceKind::kBoundary)
            continue;
        painter.setPen(colours().onAccent);
        const QString text = painter.fontMetrics().elidedText(
            traceKindWords(slice.kind), Qt::ElideRight, static_cast<int>(right - left) - 8);
        if (text.size() > 2)
            painter.drawText(bar.adjusted(4, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft, text);
    }
}

void TraceView::drawRow(QPainter& painter, size_t rank) const {
    const Row& row = m_rows[rank];
    painter.setFont(Theme::instance().font(FontRole::kSecondary));
    painter.setPen(colours().text);
    painter.drawText(QRect(0, row.top, kLabelWidth - 8, kBarHeight),
                     Qt::AlignVCenter | Qt::AlignLeft,
                     tr("rank %1").arg(m_trace->ranks[rank].rank));
    painter.setFont(Theme::instance().font(FontRole::kCaption));
    drawBars(painter, row.phases, row.top, kBarHeight);
    for (const auto& [slice, lane] : row.collectives) {
        const double left = xOf(static_cast<double>(slice->beginNs));
        const double right = xOf(static_cast<double>(slice->endNs()));
        if (right < kLabelWidth || left > rightEdge())
            continue;
        const double from = std::max<double>(kLabelWidth, left);
        const double to = std::min<double>(rightEdge(), right);
        painter.fillRect(QRectF(from, row.top + kBarHeight + 2 + lane * (kLaneHeight + 1),
                                std::max(1.0, to - from), kLaneHeight),
                         traceColour(slice->kind));
    }
    if (m_chosen && m_chosenRank == rank && isPhase(m_chosen->kind)) {
        const double left =
            std::max<double>(kLabelWidth, xOf(static_cast<double>(m_chosen->beginNs)));
        const double right =
            std::min<double>(rightEdge(), xOf(static_cast<double>(m_chosen->endNs())));
        painter.setPen(QPen(colours().text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(left, row.top - 1, std::max(2.0, right - left), kBarHeight + 2));
    }
}

void TraceView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), colours().card);
    if (!m_trace || m_trace->isEmpty())
        return;
    drawAxis(painter);
    painter.setFont(Theme::instance().font(FontRole::kBodyStrong));
    painter.setPen(colours().text);
    for (const auto& [top, name] : m_headings)
        painter.drawText(QRect(0, top, width(), kHeadingHeight), Qt::AlignVCenter | Qt::AlignLeft,
                         name);
    for (const Row& row : m_rows) // where its steps begin
        for (const TraceSlice* step : row.steps) {
            const double x = xOf(static_cast<double>(step->beginNs));
            if (x >= kLabelWidth && x <= rightEdge())
                painter.fillRect(QRectF(x, row.top - 2, 1, kTraceRow - 2), colours().faint);
        }
    for (size_t rank = 0; rank < m_rows.size(); ++rank)
        drawRow(painter, rank);
    if (m_pressed && std::abs(m_draggedTo - m_pressed->x()) > kDragPixels) {
        QColor chosen = colours().accent;
        chosen.setAlphaF(0.2F);
        painter.fillRect(
            QRectF(m_pressed->x(), kAxisHeight, m_draggedTo - m_pressed->x(), height()), chosen);
    }
    if (m_pointer) {
        painter.setPen(QPen(colours().secondary, 1, Qt::DashLine));
        painter.drawLine(QPointF(*m_pointer, kAxisHeight - 4), QPointF(*m_pointer, height()));
        const QString time = formatNanoseconds(std::llround(nsAt(*m_pointer)));
        painter.setFont(Theme::instance().font(FontRole::kCaption));
        const int wide = painter.fontMetrics().horizontalAdvance(time) + 8;
        const QRectF box(std::min(*m_pointer - wide / 2.0, width() - static_cast<double>(wide)), 2,
                         wide, kAxisHeight - 6);
        painter.fillRect(box, colours().neutralBack);
        painter.setPen(colours().text);
        painter.drawText(box, Qt::AlignCenter, time);
    }
    if (hasFocus()) {
        painter.setPen(colours().accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

} // namespace rm
