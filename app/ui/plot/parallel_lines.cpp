// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/parallel_lines.h"

#include "app/ui/look/theme.h"

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr double kAxisReach = 10; ///< pixels from the pointer
constexpr double kLineReach = 5;
constexpr double kRangeHalf = 5; ///< half of the width in which a range is drawn
constexpr float kLeftOutAlpha = 0.10F;
constexpr float kKeptAlpha = 0.75F;
constexpr float kRangeAlpha = 0.25F;
constexpr double kNoneBelow = 16; ///< pixels under an axis, where runs without a value pass
constexpr double kColoursWidth = 5;
constexpr int kTickPixels = 56;     ///< from one tick to the next
constexpr int kMostTickPixels = 90; ///< of its text

double distanceTo(const QPolygonF& line, const QPointF& pixel) {
    double best = qInf();
    for (qsizetype i = 1; i < line.size(); ++i) {
        const QPointF from = line[i - 1], along = line[i] - from;
        const double length = QPointF::dotProduct(along, along);
        const double at =
            length > 0 ? std::clamp(QPointF::dotProduct(pixel - from, along) / length, 0.0, 1.0)
                       : 0;
        best = std::min(best, QLineF(from + at * along, pixel).length());
    }
    return best;
}

} // namespace

ParallelLines::ParallelLines(QCustomPlot* plot)
    : QCPLayerable(plot, "overlay") {}

bool ParallelLines::isKept(size_t run) const {
    for (size_t axis = 0; axis < axes.size(); ++axis) {
        if (!ranges[axis])
            continue;
        const double share = axes[axis].shareOf(axes[axis].scale.values[run]);
        if (!(share >= ranges[axis]->first && share <= ranges[axis]->second))
            return false;
    }
    return true;
}

double ParallelLines::xOf(size_t axis) const {
    const QRect area = mParentPlot->axisRect()->rect();
    const double share =
        axes.size() > 1 ? static_cast<double>(axis) / static_cast<double>(axes.size() - 1) : 0.5;
    return area.left() + share * area.width();
}

QPointF ParallelLines::pixelOf(size_t axis, double share) const {
    const QRect area = mParentPlot->axisRect()->rect();
    return {xOf(axis), area.bottom() - share * area.height()};
}

QPointF ParallelLines::noneOf(size_t axis) const {
    return pixelOf(axis, 0) + QPointF(0, kNoneBelow);
}

double ParallelLines::shareAt(double y) const {
    const QRect area = mParentPlot->axisRect()->rect();
    return std::clamp((area.bottom() - y) / area.height(), 0.0, 1.0);
}

std::optional<size_t> ParallelLines::axisAt(const QPointF& pixel) const {
    for (size_t axis = 0; axis < axes.size(); ++axis)
        if (std::abs(xOf(axis) - pixel.x()) <= kAxisReach)
            return axis;
    return std::nullopt;
}

std::optional<size_t> ParallelLines::runAt(const QPointF& pixel) const {
    std::optional<size_t> best;
    double distance = kLineReach;
    for (size_t run = 0; run < runs.size(); ++run)
        if (isKept(run))
            if (const double away = distanceTo(lineOf(run), pixel); away <= distance) {
                distance = away;
                best = run;
            }
    return best;
}

void ParallelLines::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(true);
}

QRect ParallelLines::clipRect() const {
    return mParentPlot->axisRect()->outerRect(); // labels stand in the margins
}

QPolygonF ParallelLines::lineOf(size_t run) const {
    QPolygonF line;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
        const double share = axes[axis].shareOf(axes[axis].scale.values[run]);
        line << (std::isnan(share) ? noneOf(axis) : pixelOf(axis, share));
    }
    return line;
}

/// Those that are kept lie over the others, and the one at the pointer over all.
void ParallelLines::drawRuns(QCPPainter& painter) const {
    painter.setBrush(Qt::NoBrush);
    for (const bool areKept : {false, true})
        for (size_t run = 0; run < runs.size(); ++run) {
            if (isKept(run) != areKept)
                continue;
            QColor colour = areKept ? colours[run] : rm::colours().secondary;
            colour.setAlphaF(areKept ? kKeptAlpha : kLeftOutAlpha);
            painter.setPen(QPen(colour, areKept ? 1.4 : 1));
            painter.drawPolyline(lineOf(run));
        }
    if (pointed) {
        painter.setPen(QPen(colours[*pointed], 3));
        painter.drawPolyline(lineOf(*pointed));
    }
}

void ParallelLines::drawRange(QCPPainter& painter, size_t axis) const {
    if (!ranges[axis])
        return;
    QColor fill = rm::colours().accent;
    fill.setAlphaF(kRangeAlpha);
    painter.setPen(QPen(rm::colours().accent, 1));
    painter.setBrush(fill);
    const double top = pixelOf(axis, ranges[axis]->second).y();
    const double bottom = pixelOf(axis, ranges[axis]->first).y();
    painter.drawRect(QRectF(xOf(axis) - kRangeHalf, top, 2 * kRangeHalf, bottom - top));
}

void ParallelLines::drawTicks(QCPPainter& painter, size_t axis) const {
    painter.setFont(Theme::instance().font(FontRole::kCaption));
    const QFontMetricsF metrics(painter.font());
    const bool isLast = axis + 1 == axes.size() && axes.size() > 1;
    const auto write = [&](const QPointF& at, const QString& text) {
        const QString cut = metrics.elidedText(text, Qt::ElideRight, kMostTickPixels);
        QRectF box = metrics.boundingRect(cut).adjusted(-2, 0, 2, 0);
        box.moveCenter(at);
        if (isLast)
            box.moveRight(xOf(axis) - size::kGrid);
        else
            box.moveLeft(xOf(axis) + size::kGrid);
        QColor back = rm::colours().card;
        back.setAlphaF(0.8F);
        painter.fillRect(box, back);
        painter.setPen(rm::colours().secondary);
        painter.drawText(box, Qt::AlignCenter | Qt::TextDontClip, cut);
    };
    const int wanted = std::max(2, mParentPlot->axisRect()->height() / kTickPixels);
    for (const ScaleTick& tick : ticksOf(axes[axis], wanted))
        write(pixelOf(axis, tick.share), tick.text);
    const auto& values = axes[axis].scale.values;
    if (std::ranges::any_of(values, [](double value) { return std::isnan(value); }))
        write(noneOf(axis), tr("none"));
}

/// The axis itself says which colour stands for what.
void ParallelLines::drawColours(QCPPainter& painter, size_t axis) const {
    QLinearGradient gradient(pixelOf(axis, 0), pixelOf(axis, 1));
    gradient.setColorAt(0, lowAndHigh->first);
    gradient.setColorAt(1, lowAndHigh->second);
    painter.setPen(QPen(QBrush(gradient), kColoursWidth));
    painter.drawLine(pixelOf(axis, 0), pixelOf(axis, 1));
}

void ParallelLines::drawAxis(QCPPainter& painter, size_t axis) const {
    painter.setPen(QPen(chosen == axis ? rm::colours().accent : rm::colours().secondary,
                        chosen == axis ? 2 : 1));
    painter.drawLine(pixelOf(axis, 0), pixelOf(axis, 1));
    if (axis + 1 == axes.size() && lowAndHigh)
        drawColours(painter, axis);
    drawRange(painter, axis);
    drawTicks(painter, axis);
}

void ParallelLines::draw(QCPPainter* painter) {
    if (axes.empty())
        return;
    drawRuns(*painter);
    for (size_t axis = 0; axis < axes.size(); ++axis)
        drawAxis(*painter, axis);
}

} // namespace rm
