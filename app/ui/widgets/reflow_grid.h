// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

class QGridLayout;

namespace rm {

/// Lays out children in order, in rows of as many equal columns as fit (at most `maxColumns`). A
/// child may span several columns; with a span of 0 it is hidden. The last one of a row takes the
/// columns that would stay empty behind it; of the last row, only if it is filling.
class ReflowGrid : public QWidget {
    Q_OBJECT
public:
    ReflowGrid(int maxColumns, int minColumnWidth, QWidget* parent = nullptr);

    struct Item {
        QWidget* widget;
        int span = 1;
        int rowStretch = 0; ///< applies to the row in which the child is placed
        bool isFilling = false;
        bool operator==(const Item&) const = default;
    };
    /// In place of what is there, which is hidden where it is not among these, and stays a child.
    void setItems(std::vector<Item> items);
    const std::vector<Item>& items() const { return m_items; }
    int columns() const { return m_columns; }
    void add(QWidget* child, int span = 1, int rowStretch = 0);
    /// Takes at least that height, and more where its children need it.
    void setLeastHeight(int height);
    QSize minimumSizeHint() const override;
    void clear(); ///< deletes the children

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    int columnsFor(int width) const;
    void arrange(int columns);

    int m_maxColumns;
    int m_minColumnWidth;
    int m_columns = 0;
    int m_leastHeight = 0;
    std::vector<Item> m_items;
    QGridLayout* m_grid;
};

} // namespace rm
