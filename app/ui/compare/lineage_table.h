// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/lineage.h"
#include "app/ui/widgets/table.h"

namespace rm {

class LineageModel;
class RunStyles;

/// Runs that are branches of one another, as a graph beside their names: a bar for the steps of
/// each, which hangs from its parent's bar at the step that it left it at, and one for each of
/// several attempts. Beside it stands what a branch or attempt changed. Enter or a double click
/// opens the run.
class LineageTable : public Table {
    Q_OBJECT
public:
    explicit LineageTable(const RunStyles& styles, QWidget* parent = nullptr);

    void show(std::vector<LineageRun> runs);
    using Table::show;

Q_SIGNALS:
    void runChosen(const QString& run);

private:
    LineageModel* m_model;
};

} // namespace rm
