// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/overlay.h"

#include "app/ui/look/theme.h"
#include "app/ui/plot/plot_style.h"

namespace rm {

namespace {
constexpr double kTriangle = 4;
constexpr double kRing = 3.5;
constexpr float kQuiet = 0.4F;
} // namespace

MarkLines::MarkLines(QCustomPlot* plot)
    : QCPLayerable(plot, "overlay") {}

void MarkLines::setMarks(std::vector<Mark> marks, const AxisMap& map) {
    m_marks = std::move(marks);
    m_map = map;
}

double MarkLines::pixelOf(const Mark& mark) const {
    return mParentPlot->xAxis->coordToPixel(xOf(m_map, mark.step, mark.wallNs));
}

QPointF MarkLines::pixelOf(const QPointF& point) const {
    return {mParentPlot->xAxis->coordToPixel(point.x()),
            mParentPlot->yAxis->coordToPixel(point.y())};
}

const Mark* MarkLines::nearest(const QPointF& pixel) const {
    for (const auto& [point, mark] : m_rings)
        if (QLineF(pixelOf(point), pixel).length() <= kNearPixels)
            return &mark;
    const Mark* best = nullptr;
    double distance = kNearPixels;
    for (const bool removed : {false, true})
        for (const Mark& mark : m_marks)
            if (const double away = std::abs(pixelOf(mark) - pixel.x());
                mark.removed == removed && away <= distance && (!removed || !best)) {
                distance = away;
                best = &mark;
            }
    return best;
}

void MarkLines::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(true);
}

QRect MarkLines::clipRect() const {
    // The triangles stand a little above the axes.
    return mParentPlot->axisRect()->rect().adjusted(-1, -2 * static_cast<int>(kTriangle), 1, 0);
}

void MarkLines::draw(QCPPainter* painter) {
    const QRect area = mParentPlot->axisRect()->rect();
    for (const Mark& mark : m_marks) {
        const double x = std::round(pixelOf(mark)) + 0.5;
        if (x >= area.left() && x <= area.right() + 1)
            drawMark(painter, mark, x);
    }
    drawRings(painter);
}

void MarkLines::drawMark(QCPPainter* painter, const Mark& mark, double x) const {
    const QRect area = mParentPlot->axisRect()->rect();
    const bool selected = m_selected && *m_selected == mark.step;
    const QColor colour = toneColour(mark.tone);
    if (!mark.removed || selected) {
        QColor line = colour;
        if (mark.quiet && !selected)
            line.setAlphaF(kQuiet);
        painter->setPen(
            QPen(line, selected ? size::kPen : 1, selected ? Qt::SolidLine : Qt::DashLine));
        painter->drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    }
    painter->setPen(mark.removed ? QPen(colour, 1) : QPen(Qt::NoPen));
    painter->setBrush(mark.removed ? colours().card : colour);
    painter->drawPolygon(QPolygonF({{x - kTriangle, area.top() - kTriangle},
                                    {x + kTriangle, area.top() - kTriangle},
                                    {x, area.top() + kTriangle / 2}}));
}

void MarkLines::drawRings(QCPPainter* painter) const {
    const QRectF area = mParentPlot->axisRect()->rect();
    for (const auto& [point, mark] : m_rings) {
        if (!area.contains(pixelOf(point)))
            continue;
        painter->setPen(QPen(toneColour(mark.tone), m_selected == mark.step ? size::kPen : 1));
        painter->setBrush(colours().card);
        painter->drawEllipse(pixelOf(point), kRing, kRing);
    }
}

Crosshair::Crosshair(QCustomPlot* plot)
    : QCPLayerable(plot, "pointer") {}

void Crosshair::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(true);
}

QRect Crosshair::clipRect() const {
    return mParentPlot->axisRect()->outerRect(); // the words stand in the margin
}

void Crosshair::draw(QCPPainter* painter) {
    if (!m_x)
        return;
    const QRect area = mParentPlot->axisRect()->rect();
    const double x = std::round(mParentPlot->xAxis->coordToPixel(*m_x)) + 0.5;
    painter->setPen(QPen(colours().secondary, 1));
    painter->drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    for (const auto& [point, colour] : m_dots) {
        const QPointF pixel(mParentPlot->xAxis->coordToPixel(point.x()),
                            mParentPlot->yAxis->coordToPixel(point.y()));
        if (!QRectF(area).adjusted(-1, -1, 1, 1).contains(pixel))
            continue;
        painter->setPen(QPen(colours().card, 1));
        painter->setBrush(colour);
        painter->drawEllipse(pixel, 3.5, 3.5);
    }
    drawWords(painter, x);
}

void Crosshair::drawWords(QCPPainter* painter, double x) const {
    painter->setFont(Theme::instance().font(FontRole::kCaption));
    const QRect outer = clipRect();
    QRectF box = QFontMetricsF(painter->font()).boundingRect(m_words);
    box.adjust(-size::kGrid, -1, size::kGrid, 1);
    box.moveTop(mParentPlot->axisRect()->rect().bottom() + 3);
    box.moveLeft(std::clamp(x - box.width() / 2, static_cast<double>(outer.left()),
                            std::max<double>(outer.left(), outer.right() - box.width())));
    painter->setPen(Qt::NoPen);
    painter->setBrush(colours().text);
    painter->drawRoundedRect(box, 3, 3);
    painter->setPen(colours().card);
    painter->drawText(box, Qt::AlignCenter, m_words);
}

ColumnSelection::ColumnSelection(QCustomPlot* plot)
    : QCPSelectionRect(plot) {}

void ColumnSelection::startSelection(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton)
        QCPSelectionRect::startSelection(event);
}

void ColumnSelection::draw(QCPPainter* painter) {
    if (!isActive())
        return;
    const QRect area = mParentPlot->axisRect()->rect();
    QColor fill = colours().accent;
    fill.setAlphaF(0.12f);
    painter->setPen(Qt::NoPen);
    painter->setBrush(fill);
    painter->drawRect(QRect(rect().left(), area.top(), rect().width(), area.height()));
}

} // namespace rm
