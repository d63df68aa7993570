// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/cell_delegate.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/chip.h"

#include <QPainter>

namespace rm {

namespace {
constexpr int kChipHeight = 22;
constexpr int kChipPad = 12;
constexpr int kCellPad = 2 * size::kGrid;

void paintHint(QPainter& painter, const QStyleOptionViewItem& option, const QString& hint) {
    painter.save();
    painter.setFont(Theme::instance().font(FontRole::kSecondary));
    painter.setPen(colours().secondary);
    const QRect cell = option.rect.adjusted(kCellPad, 0, -kCellPad, 0);
    painter.drawText(cell, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(hint, Qt::ElideRight, cell.width()));
    painter.restore();
}

} // namespace

void CellDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    // A state keeps its colour in the selected row.
    option->palette.setColor(QPalette::HighlightedText, option->palette.color(QPalette::Text));
}

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    const QVariant tone = index.data(kToneRole);
    const bool selected = option.state & QStyle::State_Selected;
    if (!tone.isValid()) {
        QStyledItemDelegate::paint(painter, option, index);
        if (selected && index.data().toString().isEmpty())
            paintHint(*painter, option, index.data(kHintRole).toString());
        return;
    }
    QStyleOptionViewItem empty = option;
    initStyleOption(&empty, index);
    empty.text.clear();
    empty.widget->style()->drawControl(QStyle::CE_ItemViewItem, &empty, painter, empty.widget);

    QFont font = Theme::instance().font(FontRole::kSecondary);
    font.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(font);
    const int room = option.rect.width() - 2 * kCellPad;
    const QString text =
        metrics.elidedText(index.data().toString(), Qt::ElideRight, room - 2 * kChipPad);
    QRect chip(0, 0, metrics.horizontalAdvance(text) + 2 * kChipPad, kChipHeight);
    chip.moveTopLeft({option.rect.left() + kCellPad, option.rect.center().y() - kChipHeight / 2});
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    // The pale backgrounds of the tones do not stand out in a selected row.
    painter->setBrush(selected ? colours().card : toneBack(static_cast<Tone>(tone.toInt())));
    painter->drawRoundedRect(chip, kChipHeight / 2.0, kChipHeight / 2.0);
    painter->setFont(font);
    painter->setPen(toneColour(static_cast<Tone>(tone.toInt())));
    painter->drawText(chip, Qt::AlignCenter, text);
    painter->restore();
}

} // namespace rm
