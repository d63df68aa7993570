// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/runs/run_trace.h"
#include "app/core/store/run_summary.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"

#include <QDialog>

#include <memory>

class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QStackedWidget;

namespace rm {

class TraceView;

/// The traces of a run over time, and a button that records another. Beside the run's page, so that
/// both can be looked at. It deletes itself when it is closed.
class TraceDialog : public QDialog {
    Q_OBJECT
public:
    TraceDialog(const AppContext& context, const RunSummary& run, QWidget* parent);

private:
    struct Shown {
        std::vector<StoredTrace> traces;
        std::shared_ptr<const AlignedTrace> trace; ///< null: there is none
        std::optional<RunSummary> run;
        bool isNews = true; ///< other traces than those that are shown
    };

    void buildUi();
    void wire();
    void pull();
    void apply(const Shown& shown);
    void showTrace();
    void offerRecording();
    void record();
    void askFile();
    void showTable();
    QString titleOf(const StoredTrace& trace) const;

    AppContext m_context;
    RunSummary m_run;
    static constexpr int kPullMs = 500;
    Puller m_puller;
    std::vector<StoredTrace> m_traces;
    std::shared_ptr<const AlignedTrace> m_trace;
    std::optional<TraceId> m_wanted; ///< nullopt: the newest
    bool m_isRecording = false;      ///< it was asked for and is not answered yet
    QComboBox* m_choice;
    QSpinBox* m_steps;
    QPushButton* m_record;
    QStackedWidget* m_stack;
    TraceView* m_view;
    QLabel* m_waits;
    QLabel* m_clocks;
    QLabel* m_pointed;
    QPushButton* m_export;
    QPushButton* m_table;
};

} // namespace rm
