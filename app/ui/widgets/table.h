// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTableView>

#include <vector>

namespace rm {

/// A table as every page shows it: whole rows, no grid but hairlines between rows, Enter opens, F2
/// edits.
class Table : public QTableView {
    Q_OBJECT
public:
    Table(const char* objectName, const QString& accessibleName, QWidget* parent = nullptr);

    /// Column widths in pixels; 0 takes what is left. If they do not fit, all but
    /// those of up to 80 shrink, down to three fifths, unless a person has resized a column.
    void setColumnWidths(const std::vector<int>& widths);
    int currentRow() const;

Q_SIGNALS:
    void opened(int row);
    void rowChosen(int row);
    void editAsked(int row); ///< F2, in a cell that cannot be edited itself

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void selectionChanged(const QItemSelection& selected,
                          const QItemSelection& deselected) override;

private:
    void fitColumns();
    void onSectionResized(int section, int before, int now);

    std::vector<int> m_widths; ///< wanted
    bool m_isFitting = false;
    bool m_isDrawn = false; ///< by a person
};

} // namespace rm
