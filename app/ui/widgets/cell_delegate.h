// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace rm {

/// Roles that delegates and proxies use.
enum ModelRole {
    kSortRole = Qt::UserRole + 1, ///< a number or text to sort by
    kToneRole,                    ///< int of Tone, for chips
    kIdRole,                      ///< QString: the run's id
    kHintRole,                    ///< QString: what can be written into a cell that is empty
    kElideRole,                   ///< Qt::TextElideMode as an int, where it is not at the right
    kStarRole,                    ///< bool: the cell is a star, drawn filled or as an outline
    kHeaderRole, ///< bool: the row is the header of rows, which are in sight or folded away
};

/// Draws cells as the style sheet wants them; cells with kToneRole are drawn as chips, those with
/// kStarRole as stars, rows with kHeaderRole as headers. What is cut is whole in the tooltip.
class CellDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    void paintChip(QPainter& painter, const QStyleOptionViewItem& option,
                   const QModelIndex& index) const;
    /// The cell without its text: background, selection, focus.
    void paintEmpty(QPainter& painter, const QStyleOptionViewItem& option,
                    const QModelIndex& index) const;
};

} // namespace rm
