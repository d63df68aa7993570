// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/dialogs/try_dialog.h"
#include "app/ui/run/branch_point.h"
#include "app/ui/run/run_detail.h"

#include <QTimer>
#include <QWidget>

#include <array>
#include <map>
#include <memory>

class QAction;
class QButtonGroup;
class QHBoxLayout;
class QPushButton;
class QStackedWidget;
class QVBoxLayout;

namespace rm {

class Banner;
class ChartsTab;
class CheckpointsTab;
class KeyFigure;
class LaunchProgress;
class LogsTab;
class PageHeader;
class RanksTab;
class RunActions;
class SamplesTab;
class SpecTab;

/// One run: state and actions, key figures, tabs.
class RunPage : public QWidget {
    Q_OBJECT
public:
    enum Tab { kCharts, kRanks, kLogs, kCheckpoints, kSamples, kSpec, kTabCount };

    explicit RunPage(const AppContext& context, QWidget* parent = nullptr);

    void setRun(const QString& run);
    /// setRun() of a run that is being launched and that the database may not know yet.
    void expect(const QString& run, const QString& name);
    QString run() const { return m_run; }
    QString name() const { return m_detail.run ? m_detail.run->name : QString(); }
    void showTab(Tab tab);
    /// The topic of the manual that helps with the tab that is shown, or with a run that failed.
    QString manualTopic() const;
    void focusFilter(); ///< of the log
    bool showAlone();   ///< the chart with the focus or under the pointer, on the whole screen
    /// The actions that its state allows, and its tabs.
    std::vector<QPushButton*> buttons() const;
    std::vector<QAction*> menuActions() const; ///< that its state allows
    /// Takes the live state of the engine.
    void showLive(const LiveState& live);

Q_SIGNALS:
    /// The run failed, and its spec is to be mended and launched as a new run.
    void editRequested(const QString& run, const QString& toml,
                       const std::vector<rm::Placement>& nodes);
    void branchRequested(const rm::BranchPoint& from, const QString& toml,
                         const std::vector<rm::Placement>& nodes);

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildUi();
    QWidget* buildFigures();
    QWidget* buildTabs();
    void addTab(const QString& text, const char* objectName, QWidget* page, QHBoxLayout* row);
    void wire();
    void wireTabs();
    void fitControls();
    void showLogAt(int64_t wallNs);
    void pull();
    std::optional<StepSpan> spanToRead() const;
    void apply(const RunDetail& read);
    void showState();
    void showFigures();
    void showStepFigure(const RunSummary& run);
    void showSlowestFigure();
    void showBanners();
    void setSpan(const std::optional<TimedSpan>& span);
    void showSpan();
    void showDelay();
    void showTrouble();
    void refreshSeries(const QString& run);
    void askEdit();
    void askBranch(const StoredCheckpoint& checkpoint);
    void askTry(const std::string& checkpoint);
    std::vector<Placement> placements() const;

    AppContext m_context;
    QString m_run;
    RunDetail m_detail;
    LiveState m_live;
    static constexpr int kPullMs = 250;
    Puller m_puller;
    PageHeader* m_header;
    RunActions* m_actions;
    Banner* m_delayBanner = nullptr;
    QPushButton* m_withdraw = nullptr;
    QTimer m_tick; ///< what the banners say grows older
    Banner* m_linkBanner;
    QPushButton* m_declareLost;
    Banner* m_failure; ///< or why it stopped before it trained, or endReport()
    QPushButton* m_editAgain;
    QPushButton* m_copyReport;
    Banner* m_trouble; ///< what it met and lives on with
    QPushButton* m_seen;
    QAction* m_try = nullptr;                                ///< of the palette
    std::map<QString, std::shared_ptr<TriedInputs>> m_tried; ///< by run, in this session
    std::map<QString, int> m_seenAttempts; ///< by run: of which a person has dismissed the news
    LaunchProgress* m_progress;
    QWidget* m_figureRow;
    std::array<KeyFigure*, 5> m_figures{};
    QHBoxLayout* m_tabRow = nullptr;
    std::optional<TimedSpan> m_span;        ///< to which the charts are zoomed
    std::optional<SpanDetail> m_spanDetail; ///< of it, once it is read
    QPushButton* m_spanButton = nullptr;
    QButtonGroup* m_tabs;
    QStackedWidget* m_stack;
    ChartsTab* m_charts;
    RanksTab* m_ranks;
    LogsTab* m_logs;
    CheckpointsTab* m_checkpoints;
    SamplesTab* m_samples;
    SpecTab* m_spec;
};

} // namespace rm
