// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/cell_delegate.h"

#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/chip.h"

#include <QAbstractItemView>
#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QTextDocument>
#include <QToolTip>

#include <cmath>
#include <numbers>

namespace rm {

namespace {
constexpr int kChipHeight = 22;
constexpr int kChipPad = 12;
constexpr int kCellPad = 2 * size::kGrid;
constexpr int kArrowRoom = 4 * size::kGrid; ///< in front of the title of a header row
constexpr double kStarRadius = 7;

void paintHint(QPainter& painter, const QStyleOptionViewItem& option, const QString& hint) {
    painter.save();
    painter.setFont(Theme::instance().font(FontRole::kSecondary));
    painter.setPen(colours().secondary);
    const QRect cell = option.rect.adjusted(kCellPad, 0, -kCellPad, 0);
    painter.drawText(cell, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(hint, Qt::ElideRight, cell.width()));
    painter.restore();
}

/// Points down where rows are in sight, else to the right.
void paintArrow(QPainter& painter, const QRect& cell, bool isOpen) {
    constexpr double kHalf = 4;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(cell.left() + kCellPad + kHalf, cell.center().y() + 0.5);
    painter.rotate(isOpen ? 90 : 0);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colours().secondary);
    painter.drawPolygon(
        QPolygonF({QPointF(-kHalf / 2, -kHalf), QPointF(kHalf, 0), QPointF(-kHalf / 2, kHalf)}));
    painter.restore();
}

void paintStar(QPainter& painter, const QRect& cell, bool isStarred) {
    constexpr int kCorners = 10; // every other one lies within
    constexpr double kWithin = 0.45;
    QPolygonF star;
    for (int corner = 0; corner < kCorners; ++corner) {
        const double angle = std::numbers::pi * (2.0 * corner / kCorners - 0.5);
        const double radius = kStarRadius * (corner % 2 == 0 ? 1 : kWithin);
        star << QPointF(radius * std::cos(angle), radius * std::sin(angle));
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(QRectF(cell).center());
    painter.setPen(QPen(isStarred ? colours().accent : colours().faint, 1.2));
    painter.setBrush(isStarred ? QBrush(colours().accent) : QBrush(Qt::NoBrush));
    painter.drawPolygon(star);
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
    if (const QVariant elide = index.data(kElideRole); elide.isValid())
        option->textElideMode = static_cast<Qt::TextElideMode>(elide.toInt());
    if (!index.data(kHeaderRole).isValid())
        return;
    option->font = Theme::instance().font(FontRole::kBodyStrong);
    option->fontMetrics = QFontMetrics(option->font);
    if (!(option->state & QStyle::State_Selected))
        option->backgroundBrush = colours().hover;
}

void CellDelegate::paintEmpty(QPainter& painter, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const {
    QStyleOptionViewItem empty = option;
    initStyleOption(&empty, index);
    empty.text.clear();
    empty.widget->style()->drawControl(QStyle::CE_ItemViewItem, &empty, &painter, empty.widget);
}

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    if (const QVariant star = index.data(kStarRole); star.isValid()) {
        paintEmpty(*painter, option, index);
        paintStar(*painter, option.rect, star.toBool());
    } else if (const QVariant header = index.data(kHeaderRole);
               header.isValid() && index.column() == 0) {
        paintEmpty(*painter, option, index);
        paintArrow(*painter, option.rect, header.toBool());
        QStyleOptionViewItem title = option;
        title.rect.setLeft(option.rect.left() + kArrowRoom);
        QStyledItemDelegate::paint(painter, title, index);
    } else if (index.data(kToneRole).isValid()) {
        paintEmpty(*painter, option, index);
        paintChip(*painter, option, index);
    } else {
        QStyledItemDelegate::paint(painter, option, index);
        if ((option.state & QStyle::State_Selected) && index.data().toString().isEmpty())
            paintHint(*painter, option, index.data(kHintRole).toString());
    }
}

void CellDelegate::paintChip(QPainter& painter, const QStyleOptionViewItem& option,
                             const QModelIndex& index) const {
    const auto tone = static_cast<Tone>(index.data(kToneRole).toInt());
    const QFont font = chipFont();
    const QFontMetrics metrics(font);
    const int room = option.rect.width() - 2 * kCellPad;
    const QString text =
        metrics.elidedText(index.data().toString(), Qt::ElideRight, room - 2 * kChipPad);
    QRect chip(0, 0, metrics.horizontalAdvance(text) + 2 * kChipPad, kChipHeight);
    chip.moveTopLeft({option.rect.left() + kCellPad, option.rect.center().y() - kChipHeight / 2});
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    // The pale backgrounds of the tones do not stand out in a selected row.
    const bool selected = option.state & QStyle::State_Selected;
    painter.setBrush(selected ? colours().card : toneBack(tone));
    painter.drawRoundedRect(chip, kChipHeight / 2.0, kChipHeight / 2.0);
    painter.setFont(font);
    painter.setPen(tone == Tone::kAccent ? colours().accentText : toneColour(tone));
    painter.drawText(chip, Qt::AlignCenter, text);
    painter.restore();
}

/// A chip and a header's arrow take room beside their text.
QSize CellDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QSize hint = QStyledItemDelegate::sizeHint(option, index);
    if (index.data(kToneRole).isValid())
        hint.setWidth(QFontMetrics(chipFont()).horizontalAdvance(index.data().toString()) + 1 +
                      2 * (kCellPad + kChipPad)); // 1: what was rounded off
    else if (index.data(kHeaderRole).isValid() && index.column() == 0)
        hint.rwidth() += kArrowRoom;
    return hint;
}

} // namespace rm
