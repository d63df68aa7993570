// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_legend.h"

#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"

#include <QFontMetrics>
#include <QPainter>
#include <QStringList>

#include <algorithm>

namespace rm {

namespace {

constexpr int kLine = 12;
constexpr int kDot = 6; ///< in place of a line where there are many
constexpr int kGap = 4;
constexpr int kBetween = 7;
constexpr size_t kMany = 4;

QFont legendFont() {
    return Theme::instance().font(FontRole::kCaption);
}

} // namespace

ChartLegend::ChartLegend(QWidget* parent)
    : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(QFontMetrics(legendFont()).height() + 2);
}

void ChartLegend::setParts(std::vector<Part> parts, const QString& where) {
    m_parts = std::move(parts);
    QStringList texts;
    if (!where.isEmpty())
        texts << where;
    for (const Part& part : m_parts)
        texts << part.text;
    setAccessibleName(texts.join(", "));
    setToolTip(asPlain(texts.join("\n")));
    update();
}

int ChartLegend::keyWidth() const {
    return m_parts.size() > kMany ? kDot : kLine;
}

int ChartLegend::widthOf(const Part& part) const {
    return QFontMetrics(legendFont()).horizontalAdvance(part.text) +
           (part.colour.isValid() ? keyWidth() + kGap : 0);
}

void ChartLegend::paintKey(QPainter& painter, const Part& part, int left) const {
    const double middle = height() / 2.0;
    if (keyWidth() == kDot) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(part.colour);
        painter.drawEllipse(QRectF(left, middle - kDot / 2.0, kDot, kDot));
        return;
    }
    painter.setPen(QPen(part.colour, 2, part.dash));
    painter.drawLine(QPointF(left, middle), QPointF(left + kLine, middle));
}

/// As many parts as there is room for, and "+3" where three are left out: those of the run's past
/// go first, then the last ones.
std::vector<ChartLegend::Part> ChartLegend::shown() const {
    const auto widthOfAll = [this](const std::vector<Part>& parts) {
        int all = -kBetween;
        for (const Part& part : parts)
            all += kBetween + widthOf(part);
        return all;
    };
    std::vector<Part> kept = m_parts, parts = m_parts;
    while (widthOfAll(parts) > width() && !kept.empty()) {
        const auto past = std::ranges::find_if(kept, &Part::isPast);
        kept.erase(past != kept.end() ? past : kept.end() - 1);
        parts = kept;
        parts.push_back({'+' + QString::number(m_parts.size() - kept.size()), {}, Qt::SolidLine});
    }
    return parts;
}

void ChartLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(legendFont());
    int right = width();
    const std::vector<Part> parts = shown();
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        const int left = right - widthOf(*part);
        painter.setPen(colours().secondary);
        painter.drawText(QRect(left, 0, right - left, height()), Qt::AlignRight | Qt::AlignVCenter,
                         part->text);
        if (part->colour.isValid()) {
            paintKey(painter, *part, left);
        }
        right = left - kBetween;
    }
}

} // namespace rm
