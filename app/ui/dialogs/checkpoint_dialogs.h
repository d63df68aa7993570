// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"

#include <optional>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QStandardItemModel;

namespace rm {

class PlacementList;
class Table;

/// Asks on which nodes a run is to go on, from a checkpoint (empty: the newest), and says what
/// changes. `from`: that checkpoint in a sentence; `nodes`: those that are proposed.
class ResumeDialog : public Sheet {
    Q_OBJECT
public:
    ResumeDialog(const AppContext& context, const RunSummary& run, const QString& checkpoint,
                 const QString& from, const std::vector<Placement>& nodes, QWidget* parent);

Q_SIGNALS:
    void chosen(const std::vector<rm::Placement>& nodes);

private:
    void wire();
    void look();
    void showAnswer(const Result<ResumePreflight>& preflight);

    AppContext m_context;
    QString m_run;
    QString m_checkpoint; ///< empty: the newest
    int m_requests = 0;   ///< questions so far; only the last one's answer counts
    PlacementList* m_nodes;
    QLabel* m_changes;
    QPushButton* m_confirm;
};

/// Asks where a copy of a checkpoint is to lie.
class CopyDialog : public Sheet {
    Q_OBJECT
public:
    CopyDialog(const AppContext& context, const RunSummary& run, const StoredCheckpoint& checkpoint,
               QWidget* parent);

Q_SIGNALS:
    void chosen(const rm::CopyOrder& order);

private:
    void offer();

    QComboBox* m_node;
    QLineEdit* m_folder;
    QLabel* m_hint;
    QPushButton* m_confirm;
};

/// Undoes the removal of a checkpoint; a toast says why it could not be.
void bringBack(const AppContext& context, const QString& run, const QString& checkpoint);

/// How far the weights of a checkpoint are from those of another one of its run, by layer.
class CompareDialog : public Sheet {
    Q_OBJECT
public:
    CompareDialog(const AppContext& context, const QString& run, const StoredCheckpoint& checkpoint,
                  const std::vector<StoredCheckpoint>& all, QWidget* parent);

private:
    void ask();
    void showAnswer(const Result<TensorComparison>& comparison);

    AppContext m_context;
    QString m_run;
    QString m_checkpoint;
    int m_requests = 0; ///< as ResumeDialog's
    QComboBox* m_other;
    QLabel* m_summary;
    QStandardItemModel* m_rows;
    Table* m_table;
};

} // namespace rm
