// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/cell_delegate.h"

#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/chip.h"

#include <QAbstractItemView>
#include <QHelpEvent>
#include <QPainter>
#include <QTextDocument>
#include <QToolTip>

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

QFont chipFont() {
    QFont font = Theme::instance().font(FontRole::kSecondary);
    font.setWeight(QFont::DemiBold);
    return font;
}

/// Whether the text is cut, as paint() draws it.
bool isCut(const QStyleOptionViewItem& option, const QModelIndex& index) {
    const bool isChip = index.data(kToneRole).isValid();
    const QStyle* style = option.widget->style();
    const QRect place = style->subElementRect(QStyle::SE_ItemViewItemText, &option, option.widget);
    const int margin = style->pixelMetric(QStyle::PM_FocusFrameHMargin, &option, option.widget) + 1;
    const int room =
        isChip ? option.rect.width() - 2 * kCellPad - 2 * kChipPad : place.width() - 2 * margin;
    const QFont font = isChip ? chipFont() : option.font;
    return QFontMetrics(font).horizontalAdvance(index.data().toString()) > room;
}

} // namespace

/// A text that is cut is whole in the tooltip, above what the cell has to say besides.
bool CellDelegate::helpEvent(QHelpEvent* event, QAbstractItemView* view,
                             const QStyleOptionViewItem& option, const QModelIndex& index) {
    QStyleOptionViewItem drawn = option;
    initStyleOption(&drawn, index);
    if (event->type() != QEvent::ToolTip || !isCut(drawn, index))
        return QStyledItemDelegate::helpEvent(event, view, option, index);
    const QString text = index.data().toString();
    const QString more = index.data(Qt::ToolTipRole).toString();
    QString tip = asHtml(text);
    if (!more.isEmpty() && more != text && more != tip)
        tip += "<br>" + (Qt::mightBeRichText(more) ? more : asHtml(more));
    QToolTip::showText(event->globalPos(), tip, view);
    return true;
}

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

    const QFont font = chipFont();
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
