// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTableView>

namespace rm {

/// A table as every page shows it: whole rows, no grid but hairlines between rows, Enter opens.
class Table : public QTableView {
    Q_OBJECT
public:
    Table(const char* objectName, const QString& accessibleName, QWidget* parent = nullptr);

    /// Column widths in pixels; 0 takes what is left.
    void setColumnWidths(const std::vector<int>& widths);
    int currentRow() const;

Q_SIGNALS:
    void opened(int row);
    void rowChosen(int row);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void selectionChanged(const QItemSelection& selected,
                          const QItemSelection& deselected) override;
};

} // namespace rm
