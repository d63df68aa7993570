// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/run_page.h"

#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/runs/live_spec.h"
#include "app/core/runs/parts_of_run.h"
#include "app/core/runs/requested_words.h"
#include "app/core/runs/standstill.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/dialogs/checkpoint_dialogs.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/run/charts_tab.h"
#include "app/ui/run/checkpoints_tab.h"
#include "app/ui/run/launch_progress.h"
#include "app/ui/run/logs_tab.h"
#include "app/ui/run/ranks_tab.h"
#include "app/ui/run/run_actions.h"
#include "app/ui/run/samples_tab.h"
#include "app/ui/run/spec_tab.h"
#include "app/ui/widgets/banner.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/toast.h"
#include "shared/io/clock.h"

#include <QAction>
#include <QButtonGroup>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kCompactWidth = 920;
constexpr int kTabGap = 20;
constexpr int kCompactTabGap = 7;
enum Figure { kStep, kLoss, kThroughput, kStepTime, kSlowest };

/// The commands that no node has accepted.
std::vector<RequestedCommand> waitingOf(std::vector<RequestedCommand> commands) {
    std::erase_if(commands, [](const RequestedCommand& each) {
        return each.state != RequestedState::kWaiting;
    });
    return commands;
}

/// Who asked for what waits, and how long it does; empty: nothing waits.
QString waitingWords(const std::vector<RequestedCommand>& waiting) {
    QStringList lines;
    for (const RequestedCommand& each : waiting)
        lines << RunPage::tr("%1 was asked for by %2 %3 and is kept for 1 h until a node takes it.")
                     .arg(capitalized(requestedWords(each)),
                          QString::fromStdString(requesterWords(each.by)),
                          formatRelative(each.requestedNs, wallNowNs()));
    return lines.join('\n');
}

} // namespace

RunPage::RunPage(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this) {
    buildUi();
    wire();
    wireTabs();
}

void RunPage::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kPageX, size::kPageY, size::kPageX, size::kPageY);
    column->setSpacing(size::kCardGap);
    m_header = new PageHeader({});
    m_actions = new RunActions(m_context, *m_header, this);
    column->addWidget(m_header);
    m_linkBanner = new Banner("linkBanner");
    m_declareLost = makeButton(tr("Declare lost"), "danger", "declareLost");
    m_declareLost->setToolTip(tr("End the run without the nodes that cannot be reached"));
    m_linkBanner->addAction(m_declareLost);
    connect(m_declareLost, &QPushButton::clicked, m_actions, &RunActions::askDeclareLost);
    column->addWidget(m_linkBanner);
    m_delayBanner = new Banner("delayBanner");
    m_withdraw = makeButton(tr("Withdraw"), "", "withdrawCommand");
    m_withdraw->setToolTip(tr("Take back what waits for a node"));
    m_delayBanner->addAction(m_withdraw);
    connect(m_withdraw, &QPushButton::clicked, this,
            [this] { m_actions->withdraw(waitingOf(m_detail.history.requested)); });
    QPushButton* kill = makeButton(tr("Kill"), "danger", "killRun");
    m_delayBanner->addAction(kill);
    connect(kill, &QPushButton::clicked, m_actions, &RunActions::askKill);
    column->addWidget(m_delayBanner);
    m_failure = new Banner("failureBanner");
    m_editAgain = makeButton(tr("Edit and launch again"), "", "editAgain");
    m_failure->addAction(m_editAgain);
    connect(m_editAgain, &QPushButton::clicked, this, &RunPage::askEdit);
    m_copyReport = makeButton(tr("Copy report"), "", "copyReport");
    m_failure->addAction(m_copyReport);
    connect(m_copyReport, &QPushButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(failureReport(m_detail).text());
        m_context.toast.say(tr("Report copied"));
    });
    column->addWidget(m_failure);
    m_trouble = new Banner("troubleBanner");
    m_seen = makeButton(tr("Dismiss"), "", "dismissTrouble");
    m_trouble->addAction(m_seen);
    connect(m_seen, &QPushButton::clicked, this, [this] {
        m_seenAttempts[m_run] = m_detail.run->attempt;
        showTrouble();
    });
    column->addWidget(m_trouble);
    m_progress = new LaunchProgress;
    m_progress->setObjectName("resumeProgress");
    m_progress->hide();
    column->addWidget(m_progress);
    m_figureRow = buildFigures();
    column->addWidget(m_figureRow);
    column->addWidget(buildTabs());
    column->addWidget(m_stack, 1);
}

QWidget* RunPage::buildFigures() {
    auto* figures = new QWidget;
    auto* row = new QHBoxLayout(figures);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::kCardGap);
    m_figures = {
        new KeyFigure(tr("Step"), "figureStep"), new KeyFigure(tr("Loss, raw"), "figureLoss"),
        new KeyFigure(throughputWord(builtinMetric(metric::kTrainTokensPerS)), "figureThroughput"),
        new KeyFigure(tr("Step time"), "figureStepTime"),
        new KeyFigure(tr("Slowest rank"), "figureSlowest")};
    for (KeyFigure* figure : m_figures)
        row->addWidget(figure, 1);
    return figures;
}

QWidget* RunPage::buildTabs() {
    auto* bar = new QWidget;
    auto* row = m_tabRow = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    m_tabs = new QButtonGroup(this);
    m_stack = new QStackedWidget;
    m_charts = new ChartsTab(m_context);
    m_ranks = new RanksTab;
    m_logs = new LogsTab(m_context);
    m_checkpoints = new CheckpointsTab(m_context);
    m_samples = new SamplesTab(m_context);
    m_spec = new SpecTab(m_context);
    addTab(tr("Charts"), "tabCharts", m_charts, row);
    addTab(tr("Ranks"), "tabRanks", m_ranks, row);
    addTab(tr("Logs"), "tabLogs", m_logs, row);
    addTab(tr("Checkpoints"), "tabCheckpoints", m_checkpoints, row);
    addTab(tr("Samples"), "tabSamples", m_samples, row);
    addTab(tr("Spec"), "tabSpec", m_spec, row);
    row->addStretch(1);
    m_spanButton = makeButton(tr("Show all steps"), "quiet", "shownSteps");
    row->addWidget(m_spanButton);
    row->addWidget(m_charts->controls());
    return bar;
}

void RunPage::addTab(const QString& text, const char* objectName, QWidget* page, QHBoxLayout* row) {
    QPushButton* button = makeButton(text, "tab", objectName);
    button->setCheckable(true);
    m_tabs->addButton(button, m_stack->addWidget(page));
    row->addWidget(button);
}

void RunPage::wire() {
    connect(&m_puller, &Puller::pull, this, &RunPage::pull);
    connect(&m_context.engine, &Engine::samplesAppended, this, &RunPage::refreshSeries);
    connect(&m_context.engine, &Engine::runsChanged, &m_puller, &Puller::request);
    connect(&m_context.engine, &Engine::attemptEnded, this, &RunPage::refreshSeries);
    connect(&m_context.engine, &Engine::progressed, this, [this](const QString& run) {
        if (run == m_run)
            m_progress->show(m_context.engine.live(run));
    });
    connect(&m_context.engine, &Engine::liveChanged, this, [this](const QString& run) {
        if (run == m_run)
            showLive(m_context.engine.live(run));
    });
    m_tick.start(1000);
    connect(&m_tick, &QTimer::timeout, this, [this] {
        if (isVisible() && m_detail.run && !hasEnded(m_detail.run->state))
            showBanners();
    });
    connect(m_tabs, &QButtonGroup::idClicked, this,
            [this](int tab) { showTab(static_cast<Tab>(tab)); });
}

void RunPage::wireTabs() {
    connect(m_ranks, &RanksTab::logRequested, this, [this](int rank) {
        m_logs->chooseRank(rank);
        showTab(kLogs);
    });
    connect(m_charts, &ChartsTab::logRequested, this, &RunPage::showLogAt);
    connect(m_charts, &ChartsTab::branchRequested, this, &RunPage::askBranch);
    connect(m_charts, &ChartsTab::spanChanged, this, &RunPage::setSpan);
    const auto passSmoothing = [this] { m_checkpoints->setSmoothing(m_charts->smoothing()); };
    connect(m_charts, &ChartsTab::smoothingChanged, this, passSmoothing);
    passSmoothing();
    connect(m_spanButton, &QPushButton::clicked, this, [this] {
        m_tabs->checkedButton()->setFocus(); // it goes
        m_charts->showAll();
    });
    connect(m_charts, &ChartsTab::restoreRequested, m_actions,
            [this](const StoredCheckpoint& checkpoint) { m_actions->askRestore(checkpoint); });
    connect(m_logs, &LogsTab::chartsRequested, this, [this](qint64 wallNs) {
        showTab(kCharts);
        m_charts->showTime(wallNs);
    });
    connect(m_charts, &ChartsTab::revertRequested, m_actions, &RunActions::askRevert);
    connect(m_charts, &ChartsTab::commandsRequested, m_actions, &RunActions::showCommands);
    connect(m_checkpoints, &CheckpointsTab::restoreRequested, m_actions,
            [this](const StoredCheckpoint& checkpoint) { m_actions->askRestore(checkpoint); });
    connect(m_checkpoints, &CheckpointsTab::restoreOnRequested, m_actions,
            &RunActions::askRestoreOn);
    connect(m_checkpoints, &CheckpointsTab::copyRequested, m_actions, &RunActions::askCopy);
    connect(m_checkpoints, &CheckpointsTab::pinRequested, m_actions, &RunActions::togglePin);
    connect(m_checkpoints, &CheckpointsTab::compareRequested, this,
            [this](const StoredCheckpoint& checkpoint) {
                (new CompareDialog(m_context, m_run, checkpoint, m_detail.history.checkpoints,
                                   window()))
                    ->open();
            });
    connect(m_checkpoints, &CheckpointsTab::removeRequested, m_actions, &RunActions::askRemove);
    connect(m_checkpoints, &CheckpointsTab::branchRequested, this, &RunPage::askBranch);
    connect(m_checkpoints, &CheckpointsTab::tryRequested, this,
            [this](const StoredCheckpoint& checkpoint) { askTry(checkpoint.saved.path); });
    m_try = new QAction(tr("Try a checkpoint"), this);
    m_try->setObjectName("tryFromPalette");
    connect(m_try, &QAction::triggered, this, [this] { askTry({}); });
    connect(m_checkpoints, &CheckpointsTab::checkpointRequested, this,
            [this] { m_actions->send(CommandKind::kCheckpoint); });
    showTab(kCharts);
}

void RunPage::showLogAt(int64_t wallNs) {
    if (m_span && !m_span->times.holds(wallNs))
        m_charts->showAll(); // or the log would not have it
    showTab(kLogs);
    m_logs->showTime(wallNs);
}

/// The row is measured anew once it is laid out: a page that was just made has had another width.
void RunPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    QMetaObject::invokeMethod(this, &RunPage::fitControls, Qt::QueuedConnection);
}

void RunPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool isCompact = width() < kCompactWidth;
    m_tabRow->setSpacing(isCompact ? kCompactTabGap : kTabGap);
    m_charts->setCompact(isCompact);
    showSpan();
    fitControls();
}

/// Words of some languages leave no room for the slider beside the tabs.
void RunPage::fitControls() {
    m_charts->showSlider(true);
    m_charts->controls()->updateGeometry(); // or the row would hear of the slider only later
    m_charts->showSlider(m_tabRow->sizeHint().width() <= width() - 2 * size::kPageX);
}

void RunPage::setRun(const QString& run) {
    if (run == m_run)
        return;
    m_run = run;
    m_detail = {};
    m_spanDetail.reset();
    m_live = m_context.engine.live(run);
    m_actions->hide();
    m_progress->hide();
    for (KeyFigure* figure : m_figures)
        figure->show(kAbsent, {});
    m_charts->setRun(run);
    m_logs->setRun(run);
    m_checkpoints->setRun(run);
    m_samples->setRun(run);
    m_spec->setRun(run);
    m_puller.restart();
}

void RunPage::expect(const QString& run, const QString& name) {
    setRun(run);
    RunSummary summary;
    summary.id = run;
    summary.name = name;
    m_detail.run = summary;
    showState();
    showTab(kCharts);
}

void RunPage::showTab(Tab tab) {
    m_tabs->button(tab)->setChecked(true);
    m_stack->setCurrentIndex(tab);
    m_charts->controls()->setVisible(tab == kCharts);
    showSpan();
    if (tab == kCharts)
        fitControls(); // while they are hidden, the row is measured without them
}

QString RunPage::manualTopic() const {
    if (m_stack->currentIndex() == kCheckpoints)
        return "checkpoints";
    if (m_stack->currentIndex() == kSpec)
        return "launch";
    const bool hasFailed = m_detail.run && m_detail.run->state == RunStateKind::kFailed;
    return hasFailed ? "failures" : "watch";
}

std::vector<QPushButton*> RunPage::buttons() const {
    std::vector<QPushButton*> buttons = m_actions->offered();
    for (int tab = 0; tab < kTabCount; ++tab)
        if (!m_tabs->button(tab)->isHidden())
            buttons.push_back(qobject_cast<QPushButton*>(m_tabs->button(tab)));
    return buttons;
}

std::vector<QAction*> RunPage::menuActions() const {
    auto actions = m_actions->offeredInMenu();
    if (std::ranges::any_of(m_detail.history.checkpoints, isSomewhere))
        actions.push_back(m_try);
    return actions;
}

/// `checkpoint`: its path; empty: the newest.
void RunPage::askTry(const std::string& checkpoint) {
    if (!m_detail.spec)
        return m_context.toast.say(tr("The spec of this run cannot be read"));
    std::shared_ptr<TriedInputs>& tried = m_tried[m_run];
    if (!tried)
        tried = std::make_shared<TriedInputs>();
    (new TryDialog(m_context, m_run, *m_detail.spec, m_detail.history.checkpoints, checkpoint,
                   tried, window()))
        ->open();
}

bool RunPage::showAlone() {
    return m_charts->showAlone();
}

void RunPage::focusFilter() {
    showTab(kLogs);
    m_logs->focusFilter();
}

void RunPage::refreshSeries(const QString& run) {
    if (run != m_run)
        return;
    m_puller.request();
    m_charts->refresh();
    m_logs->refresh();
    m_checkpoints->refresh();
    m_samples->refresh();
}

void RunPage::pull() {
    if (m_run.isEmpty())
        return;
    m_puller.await(m_context.store.ask([run = m_run, span = spanToRead()](StoreReader& reader) {
        return readDetail(reader, run, span);
    }),
                   this, [this](const RunDetail& detail) { apply(detail); });
}

/// What has an end stays as it is.
std::optional<StepSpan> RunPage::spanToRead() const {
    const bool isKnown = m_spanDetail && m_span && m_span->steps.last != StepSpan::kLast;
    return m_span && !isKnown ? std::optional(m_span->steps) : std::nullopt;
}

void RunPage::apply(const RunDetail& read) {
    if (!read.run)
        return;
    RunDetail detail = read;
    if (detail.span)
        m_spanDetail = detail.span;
    detail.span = m_spanDetail;
    m_detail = detail;
    showState();
    showFigures();
    const bool hasSamples = detail.writesSamples() || detail.keepsPictures();
    m_tabs->button(kSamples)->setVisible(hasSamples);
    if (!hasSamples && m_stack->currentIndex() == kSamples)
        showTab(kCharts);
    m_charts->show(detail);
    m_ranks->show(detail, m_live);
    m_logs->show(detail);
    m_checkpoints->show(detail);
    const std::vector<StoredAttempt>& attempts = detail.history.attempts;
    m_spec->refresh(settingsNow(detail.settings), attempts.empty() ? "" : attempts.back().runtime);
}

void RunPage::setSpan(const std::optional<TimedSpan>& span) {
    const auto steps = span ? std::optional(span->steps) : std::nullopt;
    m_span = span;
    m_spanDetail.reset();
    m_logs->setSpan(span ? std::optional(span->times) : std::nullopt);
    m_checkpoints->setSpan(steps);
    m_samples->setSpan(steps);
    showSpan();
    m_puller.restart(); // what is being read is of other steps
}

/// The charts say it themselves, and the spec is of all steps.
void RunPage::showSpan() {
    const int tab = m_stack->currentIndex();
    m_spanButton->setVisible(m_span && tab != kCharts && tab != kSpec);
    if (!m_span)
        return;
    const QString steps = stepsWords(m_span->steps);
    m_spanButton->setText(tr("Only %1: show all").arg(steps));
    if (!m_spanButton->isHidden() && m_tabRow->sizeHint().width() > width() - 2 * size::kPageX)
        m_spanButton->setText(tr("Show all steps"));
    m_spanButton->setToolTip(tr("The charts are zoomed to %1. Ranks has their figures and Logs "
                                "their lines; a click shows all steps again.")
                                 .arg(steps));
}

void RunPage::showLive(const LiveState& live) {
    m_live = live;
    if (!m_detail.run)
        return;
    showState();
    showStepFigure(*m_detail.run);
    m_ranks->show(m_detail, m_live);
}

void RunPage::showState() {
    const RunSummary& run = *m_detail.run;
    const StateWords words = stateWords(run, m_live);
    m_header->setTitle(run.name);
    m_header->setChip(words.text, words.tone);
    const bool isNameShared =
        std::ranges::count(m_context.runs.runs(), run.name, &RunSummary::name) > 1;
    m_header->setFacts((isNameShared ? run.id + kSeparator : QString()) + placeWords(run));
    m_actions->show(m_detail, m_live);
    m_progress->show(m_live);
    showBanners();
}

namespace {

/// Why a run stopped before it trained: "Its launch was cancelled"; else empty.
QString whyUntrained(const RunSummary& run) {
    const bool isUntrained = run.state == RunStateKind::kStopped && run.trainedSteps() == 0;
    return isUntrained ? capitalized(run.message.toStdString()) : QString();
}

} // namespace

void RunPage::showBanners() {
    const QString lost = linkLostText(m_live);
    const std::string waits =
        isQueued(*m_detail.run) ? m_detail.run->message.toStdString() : m_detail.waitsFor;
    const bool isWaiting = lost.isEmpty() && !waits.empty();
    m_linkBanner->show(isWaiting ? Tone::kAccent : Tone::kWarn,
                       isWaiting ? capitalized(waits) : lost, {});
    m_declareLost->setVisible(
        std::ranges::any_of(m_live.nodes, &isDown, &LiveState::NodeLink::link));
    showDelay();
    showTrouble();
    const bool hasFailed = m_detail.run->state == RunStateKind::kFailed;
    m_copyReport->setVisible(hasFailed);
    const QString untrained = whyUntrained(*m_detail.run);
    m_editAgain->setVisible(hasFailed || !untrained.isEmpty());
    if (!hasFailed) {
        const FailureReport end = untrained.isEmpty() ? endReport(m_detail) : FailureReport();
        m_failure->show(Tone::kWarn, untrained.isEmpty() ? end.what : untrained, end.next);
        return;
    }
    const FailureReport report = failureReport(m_detail);
    m_failure->show(Tone::kBad, report.what, report.next, report.why);
}

/// Shows that what was asked for has no effect yet, and who asked for it.
void RunPage::showDelay() {
    const auto waiting = waitingOf(m_detail.history.requested);
    const QString who = waitingWords(waiting);
    const QString delay = capitalized(commandDelay(m_live, monotonicNowNs(), wallNowNs()));
    m_withdraw->setVisible(!waiting.empty());
    if (delay.isEmpty())
        m_delayBanner->show(Tone::kWarn, m_live.pending ? QString() : who, {});
    else
        m_delayBanner->show(
            Tone::kWarn, delay,
            waiting.empty() ? QString::fromStdString(delayAdvice(m_live, wallNowNs()).words) : who);
}

/// Shows that a rank hangs, while the run waits for it, or that the run began its newest attempt
/// itself, until a person has seen it: it did so at night, or below the fold.
void RunPage::showTrouble() {
    const QString hang = m_delayBanner->isHidden() ? hangWords(m_detail, m_live) : QString();
    const auto seen = m_seenAttempts.find(m_run);
    const bool isSeen = seen != m_seenAttempts.end() && seen->second >= m_detail.run->attempt;
    m_seen->setVisible(hang.isEmpty());
    m_trouble->show(hang.isEmpty() ? Tone::kWarn : Tone::kBad,
                    !hang.isEmpty() ? hang
                    : isSeen        ? QString()
                                    : restartWords(m_detail),
                    {});
}

void RunPage::showFigures() {
    const RunSummary& run = *m_detail.run;
    const RunFigures& figures = m_detail.figures;
    showStepFigure(run);
    QString best = tr("no validation yet");
    if (run.validationLoss && figures.bestStep)
        best = tr("best validation %1 at %2")
                   .arg(formatFigure(*run.validationLoss), formatCount(*figures.bestStep));
    m_figures[kLoss]->show(formatKnown(run.loss), best);
    m_figures[kThroughput]->setCaption(throughputWord(figures.throughputMetric));
    m_figures[kThroughput]->show(
        figures.throughput > 0 ? formatCompact(figures.throughput) : kAbsent,
        run.ranks > 0 && figures.throughput > 0
            ? tr("%1 per rank").arg(formatCompact(figures.throughput / run.ranks))
            : QString());
    m_figures[kStepTime]->show(
        figures.stepMs > 0 ? formatMilliseconds(figures.stepMs) : kAbsent,
        figures.stepMs <= 0 ? QString()
        : run.ranks > 1     ? tr("%1 in all-reduce").arg(formatPercent(figures.allreduceShare))
                            : tr("one rank, no all-reduce"));
    showSlowestFigure();
}

void RunPage::showStepFigure(const RunSummary& run) {
    // How many steps epochs are is known once the ranks have read the data.
    QString detail = run.totalSteps > 0 ? tr("of %1").arg(formatCount(run.totalSteps)) : QString();
    const double left = static_cast<double>(run.totalSteps - run.step) * m_detail.figures.stepMs;
    if (run.state == RunStateKind::kRunning && left > 0 &&
        !standsStill(m_live, m_detail.figures.stepMs))
        detail += kSeparator + tr("%1 left").arg(formatDuration(left / 1000));
    m_figures[kStep]->show(formatCount(run.step), detail);
}

void RunPage::showSlowestFigure() {
    const auto& stragglers = m_detail.figures.stragglers;
    if (stragglers.empty()) {
        const bool isCompared = m_detail.figures.isCompared;
        m_figures[kSlowest]->show(isCompared ? tr("none") : kAbsent,
                                  isCompared                ? tr("none makes steps 5 % longer")
                                  : m_detail.run->ranks > 1 ? tr("not known yet")
                                                            : QString());
        return;
    }
    const Straggler& slowest = stragglers.front();
    QString node;
    const auto& nodes = m_detail.run->nodes;
    for (const RunNode& each : nodes)
        if (nodes.size() > 1 && slowest.rank >= each.firstRank &&
            slowest.rank < each.firstRank + each.ranks)
            node = nodeTitle(each.nodeName) + kSeparator;
    m_figures[kSlowest]->show(
        tr("rank %1").arg(slowest.rank),
        node + tr("%1, steps %2 longer")
                   .arg(QString::fromStdString(
                            labelOf(*stepPhases()[phaseOf(slowest, m_detail.figures.ranks)])),
                        formatPercent(slowest.slowsBy())),
        "bad");
}

std::vector<Placement> RunPage::placements() const {
    return placementsOf(m_detail.wholePlaces);
}

void RunPage::askEdit() {
    Q_EMIT editRequested(m_run, m_spec->toml(), placements());
}

void RunPage::askBranch(const StoredCheckpoint& checkpoint) {
    const QString name = QString::fromStdString(checkpointNameOf(checkpoint));
    // It takes over no setting, so that the form begins with what was set.
    const auto spec = parseRunSpec(m_spec->toml().toStdString(), m_run.toStdString());
    const QString toml = spec ? QString::fromStdString(toToml(
                                    liveSpec(*spec, settingsAt(m_detail.settings, checkpoint))))
                              : m_spec->toml();
    Q_EMIT branchRequested({m_run, name, checkpoint.saved.step}, toml, placements());
}

} // namespace rm
