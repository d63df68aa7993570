// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/ui/run/run_detail.h"

#include <QWidget>

class QLabel;
class QStackedWidget;

namespace rm {

class RanksModel;
class SlowCard;
class Table;

/// A row a rank: node, what it does, speed, phases, how it ended.
class RanksTab : public QWidget {
    Q_OBJECT
public:
    explicit RanksTab(QWidget* parent = nullptr);
    void show(const RunDetail& detail, const LiveState& live);
    using QWidget::show;

Q_SIGNALS:
    void logRequested(int rank);

private:
    void showLeftOut();

    RanksModel* m_model;
    SlowCard* m_slow;
    Table* m_table;
    QLabel* m_leftOut; ///< columns for which the table is too narrow
    QStackedWidget* m_stack;
};

} // namespace rm
