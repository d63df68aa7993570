// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/table.h"

#include "app/ui/models/cell_delegate.h"
#include "app/ui/theme.h"

#include <QHeaderView>
#include <QKeyEvent>

namespace rm {

Table::Table(const char* objectName, const QString& accessibleName, QWidget* parent)
    : QTableView(parent) {
    setObjectName(objectName);
    setAccessibleName(accessibleName);
    setItemDelegate(new CellDelegate(this));
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::DoubleClicked);
    setShowGrid(false);
    setWordWrap(false);
    setTabKeyNavigation(false);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setFrameShape(QFrame::NoFrame);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(size::kRowHeight);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsMovable(true);
    connect(this, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        if (!(index.flags() & Qt::ItemIsEditable))
            Q_EMIT opened(index.row());
    });
}

void Table::setColumnWidths(const std::vector<int>& widths) {
    for (size_t column = 0; column < widths.size(); ++column) {
        const int section = static_cast<int>(column);
        if (widths[column] == 0)
            horizontalHeader()->setSectionResizeMode(section, QHeaderView::Stretch);
        else
            horizontalHeader()->resizeSection(section, widths[column]);
    }
}

int Table::currentRow() const {
    const QModelIndexList rows =
        selectionModel() ? selectionModel()->selectedRows() : QModelIndexList();
    return rows.isEmpty() ? -1 : rows.front().row();
}

void Table::keyPressEvent(QKeyEvent* event) {
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (enter && state() != EditingState && currentRow() >= 0)
        Q_EMIT opened(currentRow());
    else
        QTableView::keyPressEvent(event);
}

void Table::selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) {
    QTableView::selectionChanged(selected, deselected);
    Q_EMIT rowChosen(currentRow());
}

} // namespace rm
