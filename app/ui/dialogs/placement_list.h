// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/run/engine.h"
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
/// ticked, or unticked, at once.
class PlacementList : public QWidget {
    Q_OBJECT
public:
    explicit PlacementList(const AppContext& context, QWidget* parent = nullptr);
    static constexpr int kHeightInSheet = 216; ///< at most; it scrolls then


    std::vector<Placement> placements() const;
    void choose(const std::vector<Placement>& placements);

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

    AppContext m_context;
    QVBoxLayout* m_column;
    std::vector<Row> m_rows;
};

} // namespace rm
