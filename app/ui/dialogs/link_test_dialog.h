// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/link_test.h"
#include "app/core/launch/trial.h"
#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"

#include <optional>
#include <vector>

class QLabel;
class QPushButton;
class QStandardItemModel;

namespace rm {

class PlacementList;
class Table;

/// Measures how fast gradients are summed between chosen nodes, and shows the last measurements and
/// what sums of each size took in the one that is chosen. Closing it ends the one that is under
/// way.
class LinkTestDialog : public Sheet {
    Q_OBJECT
public:
    LinkTestDialog(const AppContext& context, QWidget* parent);

private:
    void measure();
    void stop();
    void take(const Result<QString>& answer);
    void showKept();
    void addRows(const LinkTest& test, const LinkHistory& history);
    void showSizes(int row);
    void refreshButton();

    AppContext m_context;
    std::optional<NodeTrial> m_running;
    PlacementList* m_nodes;
    std::vector<SumGroup> m_groups; ///< by row
    QStandardItemModel* m_rows;
    QStandardItemModel* m_sizeRows; ///< of the row that is chosen
    Table* m_table;
    Table* m_sizes;
    QLabel* m_text;
    QPushButton* m_measure;
    QPushButton* m_close; ///< or cancels while it measures
    bool m_isCancelled = false;
};

} // namespace rm
