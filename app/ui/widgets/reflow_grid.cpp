// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/reflow_grid.h"

#include "app/ui/look/theme.h"

#include <QGridLayout>
#include <QResizeEvent>

#include <algorithm>
#include <utility>

namespace rm {

ReflowGrid::ReflowGrid(int maxColumns, int minColumnWidth, QWidget* parent)
    : QWidget(parent)
    , m_maxColumns(maxColumns)
    , m_minColumnWidth(minColumnWidth)
    , m_grid(new QGridLayout(this)) {
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(size::kCardGap);
}

void ReflowGrid::add(QWidget* child, int span, int rowStretch) {
    child->setParent(this);
    m_items.push_back({child, span, rowStretch});
    arrange(m_columns > 0 ? m_columns : m_maxColumns);
}

void ReflowGrid::setItems(std::vector<Item> items) {
    if (items == m_items)
        return;
    const auto isKept = [&items](const Item& item) {
        return std::ranges::find(items, item.widget, &Item::widget) != items.end();
    };
    for (const Item& item : m_items) {
        m_grid->removeWidget(item.widget);
        if (!isKept(item) && item.widget->parentWidget() == this)
            item.widget->hide();
    }
    m_items = std::move(items);
    for (const Item& item : m_items)
        item.widget->setParent(this);
    arrange(m_columns > 0 ? m_columns : m_maxColumns);
}

void ReflowGrid::setLeastHeight(int height) {
    if (std::exchange(m_leastHeight, height) != height)
        updateGeometry();
}

QSize ReflowGrid::minimumSizeHint() const {
    return QWidget::minimumSizeHint().expandedTo({0, m_leastHeight});
}

void ReflowGrid::clear() {
    for (const Item& item : m_items) {
        m_grid->removeWidget(item.widget);
        item.widget->hide();
        item.widget->deleteLater();
    }
    m_items.clear();
}

int ReflowGrid::columnsFor(int width) const {
    const int fit = (width + size::kCardGap) / (m_minColumnWidth + size::kCardGap);
    return std::clamp(fit, 1, m_maxColumns);
}

void ReflowGrid::arrange(int columns) {
    m_columns = columns;
    for (int row = 0; row < m_grid->rowCount(); ++row)
        m_grid->setRowStretch(row, 0);
    for (int column = 0; column < m_maxColumns; ++column)
        m_grid->setColumnStretch(column, column < columns ? 1 : 0);
    int row = 0, column = 0;
    for (size_t i = 0; i < m_items.size(); ++i) {
        const Item& item = m_items[i];
        item.widget->setVisible(item.span > 0);
        if (item.span == 0)
            continue;
        int span = std::min(item.span, columns);
        if (column + span > columns) {
            ++row;
            column = 0;
        }
        const bool isLast = i + 1 == m_items.size() ||
                            column + span + std::min(m_items[i + 1].span, columns) > columns;
        const bool isFollowed = i + 1 < m_items.size(); // by one for which there is no room
        if (isLast && (item.isFilling || isFollowed))
            span = columns - column;
        m_grid->addWidget(item.widget, row, column, 1, span);
        m_grid->setRowStretch(row, std::max(m_grid->rowStretch(row), item.rowStretch));
        column += span;
    }
}

void ReflowGrid::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const int columns = columnsFor(event->size().width());
    if (columns != m_columns)
        arrange(columns);
}

} // namespace rm
