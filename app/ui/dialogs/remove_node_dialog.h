// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/fleet/fleet.h"
#include "app/ui/dialogs/sheet.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QStandardItemModel;

namespace rm {

class Table;

/// Says what Ringmaster put on a node, and takes the node off the list: alone, or after that was
/// removed there.
class RemoveNodeDialog : public Sheet {
    Q_OBJECT
public:
    RemoveNodeDialog(Engine& engine, Fleet& fleet, const Node& node, QWidget* parent);

    void reject() override; ///< not while something is being removed: it would be left half done

Q_SIGNALS:
    void forgotten(const rm::RemovedNode& node, bool isClean); ///< it is off the list

private:
    void ask(bool isPreview);
    void setRemoving(bool isRemoving);
    QString sharedWords() const;
    QString otherRunsWords(const DeployedReport& report) const;
    void take(const Result<DeployedReport>& report, bool isPreview);
    void showRows(const DeployedReport& report);
    void forget(bool isClean);

    Engine& m_engine;
    Fleet& m_fleet;
    Node m_node;
    bool m_isRemoving = false;
    bool m_isAwaited = false; ///< an answer
    int m_round = 0;          ///< of questions: answers to an earlier one are dropped
    QStandardItemModel* m_rows;
    Table* m_table;
    QLabel* m_text;
    QCheckBox* m_runs;
    QPushButton* m_fromList;
    QPushButton* m_fromNode;
    QPushButton* m_cancel;
};

} // namespace rm
