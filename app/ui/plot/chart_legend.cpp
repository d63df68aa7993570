// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_legend.h"

#include "app/ui/theme.h"

#include <QFontMetrics>
#include <QPainter>
#include <QStringList>

namespace rm {

namespace {

constexpr int kLine = 12;
constexpr int kGap = 5;
constexpr int kBetween = 10;

QFont legendFont() {
    return Theme::instance().font(FontRole::kSecondary);
}

} // namespace

ChartLegend::ChartLegend(QWidget* parent)
    : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(QFontMetrics(legendFont()).height() + 2);
}

void ChartLegend::setParts(std::vector<Part> parts) {
    m_parts = std::move(parts);
    QStringList texts;
    for (const Part& part : m_parts)
        texts << part.text;
    setAccessibleName(texts.join(", "));
    setToolTip(texts.join("\n"));
    update();
}

int ChartLegend::widthOf(const Part& part) const {
    return QFontMetrics(legendFont()).horizontalAdvance(part.text) +
           (part.colour.isValid() ? kLine + kGap : 0);
}

void ChartLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(legendFont());
    int right = width();
    for (auto part = m_parts.rbegin(); part != m_parts.rend(); ++part) {
        const int left = right - widthOf(*part);
        if (left < 0)
            return;
        painter.setPen(colours().secondary);
        painter.drawText(QRect(left, 0, right - left, height()), Qt::AlignRight | Qt::AlignVCenter,
                         part->text);
        if (part->colour.isValid()) {
            painter.setPen(QPen(part->colour, 2, part->dash));
            painter.drawLine(left, height() / 2, left + kLine, height() / 2);
        }
        right = left - kBetween;
    }
}

} // namespace rm
