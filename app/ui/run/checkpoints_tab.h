// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/step_span.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/data/run_words.h"
#include "app/ui/plot/smoothing.h"
#include "app/ui/run/run_detail.h"

#include <QWidget>

#include <deque>
#include <map>
#include <optional>

class QAction;
class QMenu;
class QPushButton;
class QStackedWidget;

namespace rm {

class CheckpointsModel;
class ElidedLabel;
class EmptyState;
class LineChart;
class Table;
struct PanelCurves;

/// The loss with a mark for each checkpoint, a table of the checkpoints, and actions for the
/// selected one.
class CheckpointsTab : public QWidget {
    Q_OBJECT
public:
    explicit CheckpointsTab(const AppContext& context, QWidget* parent = nullptr);

    void setRun(const QString& run);
    void show(const RunDetail& detail);
    using QWidget::show;
    void refresh();
    /// Shows the loss of these steps and, unless a person has chosen one, their newest checkpoint.
    void setSpan(const std::optional<StepSpan>& span);
    /// As the charts smooth, so that a step has one value.
    void setSmoothing(const Smoothing& smoothing);

Q_SIGNALS:
    void restoreRequested(const rm::StoredCheckpoint& checkpoint);
    void restoreOnRequested(const rm::StoredCheckpoint& checkpoint); ///< on nodes to be chosen
    void copyRequested(const rm::StoredCheckpoint& checkpoint);
    void
    pinRequested(const rm::StoredCheckpoint& checkpoint); ///< or to be unpinned, if it is pinned
    void compareRequested(const rm::StoredCheckpoint& checkpoint);
    void tryRequested(const rm::StoredCheckpoint& checkpoint);
    void branchRequested(const rm::StoredCheckpoint& checkpoint);
    void removeRequested(const rm::StoredCheckpoint& checkpoint); ///< one that isRemovable()
    void checkpointRequested();

protected:
    void showEvent(QShowEvent* event) override;

private:
    void buildUi();
    QWidget* buildActions();
    QMenu* buildMenu();
    using Signal = void (CheckpointsTab::*)(const rm::StoredCheckpoint&);
    QAction* addToMenu(QMenu* menu, const QString& text, const char* objectName, Signal signal);
    void wire();
    void pull();
    void showCurves(const std::vector<PanelCurves>& panels);
    void verifyAll();
    void verifyNext();
    void onVerified(const std::string& path, const Result<void>& verified);
    void showVerdicts();
    void select();
    void showSelection();
    void showRestoring(const StoredCheckpoint* checkpoint);
    bool waits() const; ///< in the queue
    void showWhyEmpty();
    void selectStep(qint64 step);
    const StoredCheckpoint* chosen() const;

    AppContext m_context;
    QString m_run;
    RunDetail m_detail;
    std::optional<StepSpan> m_span; ///< nullopt: all
    Smoothing m_smoothing;
    std::string m_chosenPath;                     ///< of the checkpoint that a person selected
    std::map<std::string, StateWords> m_verdicts; ///< by path
    std::deque<StoredCheckpoint> m_unverified;    ///< still to be asked for; the first is
    static constexpr int kPullMs = 200;
    Puller m_puller;
    LineChart* m_chart;
    CheckpointsModel* m_model;
    Table* m_table;
    ElidedLabel* m_selected;
    QPushButton* m_verify;
    QPushButton* m_try;
    QPushButton* m_more;
    QAction* m_copy;
    QAction* m_pin;
    QAction* m_compare;
    QAction* m_restoreOn;
    QPushButton* m_restore;
    QPushButton* m_branch;
    QPushButton* m_remove;
    QPushButton* m_bringBack;
    EmptyState* m_empty;
    QStackedWidget* m_stack;
};

} // namespace rm
