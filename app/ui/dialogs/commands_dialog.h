// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/dialogs/sheet.h"

class QLabel;
class QPushButton;
class QStandardItemModel;

namespace rm {

class Table;

/// What was asked of a run, newest first: by whom, when, and what became of it. What waits for a
/// node can be taken back.
class CommandsDialog : public Sheet {
    Q_OBJECT
public:
    CommandsDialog(const AppContext& context, const RunSummary& run, QWidget* parent);

Q_SIGNALS:
    void withdrawRequested(const std::vector<rm::RequestedCommand>& commands);
    void revertRequested(const std::string& command); ///< the id of a `set`

private:
    void buildUi();
    void refresh();
    void showCommands(const std::vector<RequestedCommand>& commands);
    void showSelection();
    const RequestedCommand* chosen() const;

    AppContext m_context;
    QString m_run;
    Puller m_puller;
    std::vector<RequestedCommand> m_commands; ///< what the rows were made of
    QStandardItemModel* m_rows;
    Table* m_table;
    QLabel* m_empty;
    QPushButton* m_withdraw;
    QPushButton* m_revert;
};

} // namespace rm
