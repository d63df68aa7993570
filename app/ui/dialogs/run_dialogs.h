// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QStandardItemModel;

namespace rm {

class Table;

/// Asks what a run is to be called, and stays until the engine takes it.
class RenameDialog : public Sheet {
    Q_OBJECT
public:
    RenameDialog(const AppContext& context, const RunSummary& run, QWidget* parent);

private:
    void submit();

    AppContext m_context;
    QString m_run;
    QLineEdit* m_name;
    QLabel* m_problem;
    QPushButton* m_confirm;
};

/// Says what a run has on its nodes and, where a person agrees, deletes it there.
class CleanDialog : public Sheet {
    Q_OBJECT
public:
    CleanDialog(const AppContext& context, const RunSummary& run, QWidget* parent);

private:
    void ask();
    void showFolders(const Result<std::vector<RunFolder>>& folders,
                     const std::vector<StoredCheckpoint>& stored);
    void submit();

    AppContext m_context;
    RunSummary m_run;
    QStringList m_left; ///< what the removal leaves, and why
    QLabel* m_text;
    QPushButton* m_confirm;
};

/// The runs that were deleted: brings one back, or forgets all of them.
class TrashDialog : public Sheet {
    Q_OBJECT
public:
    TrashDialog(const AppContext& context, QWidget* parent);

private:
    void refresh();
    void restoreSelected();
    void askEmpty();

    AppContext m_context;
    std::optional<std::vector<QString>> m_shown; ///< what the rows were made of
    QStandardItemModel* m_rows;
    Table* m_table;
    QLabel* m_empty;
    QPushButton* m_forget;
    QPushButton* m_restore;
};

} // namespace rm
