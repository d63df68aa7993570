// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/node_comparison.h"
#include "app/ui/widgets/card.h"

class QGridLayout;
class QLabel;

namespace rm {

/// What is not the same on all checked nodes, and which folders they share. Hidden while fewer than
/// two have been checked.
class DifferencesCard : public Card {
    Q_OBJECT
public:
    explicit DifferencesCard(QWidget* parent = nullptr);

    void show(const NodeComparison& comparison);
    using QWidget::show;

private:
    void addLine(int line, const QString& what, const NodeDifference::Side& side);

    NodeComparison m_shown;
    QLabel* m_summary;
    QLabel* m_shared;
    QWidget* m_table;
    QGridLayout* m_lines;
};

} // namespace rm
