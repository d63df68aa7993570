// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTableView>

#include <map>
#include <set>
#include <vector>

namespace rm {

/// A table as every page shows it: whole rows, no grid but hairlines between rows, Enter opens, F2
/// edits.
class Table : public QTableView {
    Q_OBJECT
public:
    Table(const char* objectName, const QString& accessibleName, QWidget* parent = nullptr);

    /// Column widths in pixels; 0 takes what is left. If they do not fit, all but those of up to 80
    /// shrink, down to three fifths; then the table is scrolled. A column that a person has resized
    /// keeps that width.
    void setColumnWidths(const std::vector<int>& widths);
    /// Widens columns of setColumnWidths() so that nothing in sight is cut, to at most so many
    /// pixels each, and further where there is room to spare. A column becomes narrower again once
    /// it needs far less, but no narrower than setColumnWidths() has it. `most` is by column.
    void fitToContents(const std::map<int, int>& most);
    /// In place of setColumnWidths(): every column is as wide as what is in it, from `least` to
    /// `most` pixels. None shrinks: what has no room is scrolled to.
    void showWhole(int least, int most);
    /// The widths that a person has given to columns, by column.
    const std::map<int, int>& drawnWidths() const { return m_drawn; }
    void setDrawnWidths(const std::map<int, int>& widths);
    /// What becomes of a table that is too narrow. `leftOut`: columns that are hidden, the first
    /// one first, while the others have not four fifths of their widths. `kept`: columns that do
    /// not shrink, as those of up to 80 pixels, and are at least as wide as their titles.
    void setNarrowing(const std::vector<int>& leftOut, const std::set<int>& kept);
    /// Columns with nothing in them: they are left out, the first one first, before anything in
    /// another column is cut.
    void setEmptyColumns(const std::vector<int>& columns);
    /// How wide the column of width 0 is to be before others are left out for it.
    void setLeastLeft(int width);
    /// Whether the column has something to show. Use this in place of setColumnHidden().
    void setColumnWanted(int column, bool isWanted);
    /// At most so many rows are in sight unless the layout has more room; of fewer that it has,
    /// all.
    void setRowsInSight(int rows);
    /// The titles of columns that are left out, from left to right.
    QStringList leftOutTitles() const;
    int currentRow() const;                ///< the first of selectedRows(); -1: none
    void allowSeveral();                   ///< with Ctrl and Shift
    std::vector<int> selectedRows() const; ///< from the top
    void selectRows(const std::vector<int>& rows);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void opened(int row); ///< not the header of rows (kHeaderRole) by a double click
    void rowChosen(int row);
    void columnsFitted();        ///< leftOutTitles() may be others
    void columnDrawn();          ///< a person has changed drawnWidths()
    void editRequested(int row); ///< F2, in a cell that cannot be edited itself

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override; ///< also marks the row that has the focus
    void focusInEvent(QFocusEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void selectionChanged(const QItemSelection& selected,
                          const QItemSelection& deselected) override;

private:
    void fitColumns();
    void resizeColumns();
    bool isKept(int column) const;
    int wantedWidth(int column) const;
    int wholeWidth(int column) const;
    double shareOfRoom() const;
    bool fitsWith(double share) const;
    int roomToSpare() const;
    void leaveOut();
    void spreadRoom();
    void onSectionResized(int section, int before, int now);
    int heightOf(int rows) const;

    std::vector<int> m_widths;  ///< wanted
    std::vector<int> m_least;   ///< as they were set
    std::map<int, int> m_whole; ///< in which nothing would be cut, where that is more than wanted
    std::vector<int> m_empty;
    std::vector<int> m_leftOut; ///< the least important first
    std::set<int> m_kept;
    std::set<int> m_unwanted;
    int m_leastLeft;
    int m_rowsInSight = 0; ///< 0: its height is its layout's concern alone
    bool m_isFitting = false;
    std::map<int, int> m_drawn; ///< widths by a person
};

} // namespace rm
