// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"

#include <QStringList>

#include <map>
#include <vector>

class QCheckBox;
class QLabel;
class QPushButton;
class QStandardItemModel;

namespace rm {

class Table;

/// Says what was deployed to the nodes and what of it nothing needs, and removes that where a
/// person agrees.
class CleanNodesDialog : public Sheet {
    Q_OBJECT
public:
    CleanNodesDialog(const AppContext& context, QWidget* parent);

private:
    void ask(bool isPreview);
    /// The nodes that have answered; what they share is told once.
    std::vector<CleanedNode> answered() const;
    void take(const QString& node, const Result<DeployedReport>& report);
    void showAnswers();
    void addRows(const QString& node, const DeployedReport& report);

    AppContext m_context;
    std::map<QString, std::optional<Result<DeployedReport>>> m_answers; ///< nullopt: is asked
    int m_round = 0; ///< of questions: answers to an earlier one are dropped
    bool m_isRemoved = false;
    QStringList m_shared; ///< sentences on the nodes that share a folder
    QStandardItemModel* m_rows;
    Table* m_table;
    QLabel* m_text;
    QCheckBox* m_recent;
    QPushButton* m_confirm;
};

} // namespace rm
