// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/ui/data/app_context.h"

#include <QWidget>

#include <vector>

class QCheckBox;
class QSpinBox;
class QVBoxLayout;

namespace rm {

class Chip;
class ElidedLabel;

/// Which nodes take part, and with how many ranks (auto: one a GPU, else one). A group of nodes is
/// ticked, or unticked, at once. A node that is taken off the list and brought back takes part as
/// before.
class PlacementList : public QWidget {
    Q_OBJECT
public:
    static constexpr int kHeightInSheet = 216; ///< at most; it scrolls then

    explicit PlacementList(const AppContext& context, QWidget* parent = nullptr);

    std::vector<Placement> placements() const;
    void choose(const std::vector<Placement>& placements);
    /// Shows what a node said of itself just now, where it was not checked; null: it said nothing.
    void showReport(const QString& node, const NodeReport* report);

Q_SIGNALS:
    void changed();

private:
    struct Row {
        QString node;
        QCheckBox* box;
        QSpinBox* ranks;
        ElidedLabel* facts;
        Chip* chip;
    };
    void rebuild();
    void addGroups();
    void addRow(const Node& node);
    void toggleGroup(const std::string& group);
    void refresh(const QString& node);
    void show(const Row& row);
    void showFacts(const Row& row, const NodeReport& report);
    QString addressOf(const QString& name) const;

    struct Gone {
        Node node;
        Placement placement;
    };
    void keepGone(const std::vector<Placement>& before);
    void takeBack(std::vector<Placement>& chosen);

    AppContext m_context;
    QVBoxLayout* m_column;
    std::vector<Row> m_rows;
    std::vector<Node> m_nodes; ///< of the rows
    std::vector<Gone> m_gone;  ///< chosen when they were taken off the list
};

} // namespace rm
