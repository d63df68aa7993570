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
};

/// Draws cells as the style sheet wants them; cells with kToneRole are drawn as chips. What is cut
/// is whole in the tooltip.
class CellDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

} // namespace rm
