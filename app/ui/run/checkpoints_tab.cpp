// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/checkpoints_tab.h"

#include "app/core/answer.h"
#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/checkpoints/retention.h"
#include "app/core/engine/engine.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/dialogs/checkpoint_dialogs.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/models/checkpoints_model.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"
#include "shared/io/clock.h"
#include "shared/metrics/metric_title.h"

#include <QAction>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace rm {

namespace {
constexpr int kPoints = 1500;

/// Paths of those that retention removes next from a run that goes on, by the run's own rules.
std::set<std::string> removedNext(StoreReader& reader, const RunSummary& run) {
    const auto spec = parseRunSpec(reader.specToml(run.id), run.id.toStdString());
    return spec && !hasEnded(run.state) ? removedNext(reader, run, *spec) : std::set<std::string>();
}

} // namespace

CheckpointsTab::CheckpointsTab(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this) {
    buildUi();
    wire();
    showVerdicts();
}

void CheckpointsTab::buildUi() {
    m_chart =
        new LineChart(tr("%1, checkpoints marked")
                          .arg(QString::fromStdString(titleOf(builtinMetric(metric::kTrainLoss)))),
                      "chartCheckpoints");
    m_chart->setFixedHeight(size::kChartMin + 20);
    m_model = new CheckpointsModel(this);
    m_table = new Table("checkpointsTable", tr("Checkpoints"));
    m_table->setModel(m_model);
    m_table->setTextElideMode(Qt::ElideMiddle); // the last node that has a copy tells as much
    m_table->setColumnWidths({90, 80, 130, 100, 0, 180, 180, 160});
    m_table->setNarrowing({CheckpointsModel::kAttempt, CheckpointsModel::kSize,
                           CheckpointsModel::kSaved, CheckpointsModel::kVerified},
                          {CheckpointsModel::kStep, CheckpointsModel::kSaved});
    auto* card = new Card;
    card->body()->setContentsMargins(1, 1, 1, 1);
    card->body()->setSpacing(0);
    card->body()->addWidget(m_table, 1);
    card->body()->addWidget(makeLine());
    card->body()->addWidget(buildActions());
    auto* content = new QWidget;
    auto* inner = new QVBoxLayout(content);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(size::kCardGap);
    inner->addWidget(m_chart);
    inner->addWidget(card, 1);
    m_empty = new EmptyState({}, {}, tr("Checkpoint now"));
    connect(m_empty, &EmptyState::acted, this, &CheckpointsTab::checkpointRequested);
    m_stack = new QStackedWidget;
    m_stack->addWidget(content);
    m_stack->addWidget(m_empty);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);
}

QWidget* CheckpointsTab::buildActions() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(16, 10, 16, 10);
    row->setSpacing(2 * size::kGrid);
    m_selected = new ElidedLabel({}, "bodySecondary");
    m_verify = makeButton(tr("Verify all"), "", "verifyCheckpoints");
    m_verify->setToolTip(
        tr("Read every byte of every checkpoint and compare it with what was saved"));
    m_try = makeButton(tr("Try"), "", "tryCheckpointNow");
    m_try->setToolTip(tr("Let the model of this checkpoint answer an input of yours"));
    m_branch = makeButton(tr("Branch a new run"), "", "branchRun");
    m_remove = makeButton(tr("Remove"), "danger", "removeCheckpoint");
    m_remove->setToolTip(tr("Delete this checkpoint from its node. It was set aside, or it was "
                            "saved before a setting was changed and the run has a newer one."));
    m_bringBack = makeButton(tr("Bring back"), "", "bringBackCheckpoint");
    m_bringBack->setToolTip(tr("Undo the removal of this checkpoint"));
    m_more = makeButton(tr("More"), "", "moreOfCheckpoint");
    m_more->setMenu(buildMenu());
    m_restore = makeButton(tr("Restore and resume"), "", "restoreCheckpoint");
    row->addWidget(m_selected, 1);
    row->addWidget(m_verify);
    row->addWidget(m_try);
    row->addWidget(m_more);
    row->addWidget(m_remove);
    row->addWidget(m_bringBack);
    row->addWidget(m_branch);
    row->addWidget(m_restore);
    return bar;
}

QMenu* CheckpointsTab::buildMenu() {
    auto* menu = new QMenu(this);
    menu->setToolTipsVisible(true);
    m_copy = addToMenu(menu, tr("Save a copy"), "copyCheckpoint", &CheckpointsTab::copyRequested);
    m_pin = addToMenu(menu, tr("Pin"), "pinCheckpoint", &CheckpointsTab::pinRequested);
    m_compare = addToMenu(menu, tr("Compare with another"), "compareCheckpoint",
                          &CheckpointsTab::compareRequested);
    m_restoreOn = addToMenu(menu, tr("Restore on other nodes"), "restoreCheckpointOn",
                            &CheckpointsTab::restoreOnRequested);
    return menu;
}

QAction* CheckpointsTab::addToMenu(QMenu* menu, const QString& text, const char* objectName,
                                   Signal signal) {
    QAction* action = menu->addAction(text);
    action->setObjectName(objectName);
    connect(action, &QAction::triggered, this, [this, signal] {
        if (const auto* checkpoint = chosen())
            Q_EMIT(this->*signal)(*checkpoint);
    });
    return action;
}

void CheckpointsTab::wire() {
    connect(&m_puller, &Puller::pull, this, &CheckpointsTab::pull);
    connect(m_table, &Table::rowChosen, this, [this](int row) {
        if (const auto* checkpoint = m_model->at(row))
            m_chosenPath = checkpoint->saved.path;
        showSelection();
    });
    connect(m_chart, &LineChart::pointed, m_chart, &LineChart::setPointer);
    connect(m_chart, &LineChart::markClicked, this, &CheckpointsTab::selectStep);
    connect(m_verify, &QPushButton::clicked, this, &CheckpointsTab::verifyAll);
    connect(m_restore, &QPushButton::clicked, this, [this] {
        if (const auto* checkpoint = chosen())
            Q_EMIT restoreRequested(*checkpoint);
    });
    connect(m_try, &QPushButton::clicked, this, [this] {
        if (const auto* checkpoint = chosen())
            Q_EMIT tryRequested(*checkpoint);
    });
    connect(m_branch, &QPushButton::clicked, this, [this] {
        if (const auto* checkpoint = chosen())
            Q_EMIT branchRequested(*checkpoint);
    });
    connect(m_bringBack, &QPushButton::clicked, this, [this] {
        if (const auto* checkpoint = chosen())
            bringBack(m_context, m_run, QString::fromStdString(checkpointNameOf(*checkpoint)));
    });
    connect(m_remove, &QPushButton::clicked, this, [this] {
        if (const auto* checkpoint = chosen())
            Q_EMIT removeRequested(*checkpoint);
    });
}

const StoredCheckpoint* CheckpointsTab::chosen() const {
    return m_model->at(m_table->currentRow());
}

void CheckpointsTab::setRun(const QString& run) {
    m_run = run;
    m_detail = {};
    m_chosenPath.clear();
    m_verdicts.clear();
    m_unverified.clear();
    m_model->show({});
    m_model->setRemovedNext({});
    m_chart->show({}, {});
    m_chart->setMarks({});
    showVerdicts();
    m_puller.restart();
}

void CheckpointsTab::show(const RunDetail& detail) {
    m_detail = detail;
    const RunHistory& history = detail.history;
    m_model->show(history.checkpoints,
                  broughtBackUntil(history.checkpoints, history.requested, wallNowNs()));
    m_table->setColumnWanted(CheckpointsModel::kVerified, m_model->showsVerified());
    m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 0 : 1);
    showWhyEmpty();
    select();
    showSelection();
    refresh();
}

bool CheckpointsTab::waits() const {
    return m_detail.run && m_detail.run->queuePlace > 0;
}

/// A run that has ended saves none any more, and one that waits in the queue none yet.
void CheckpointsTab::showWhyEmpty() {
    const bool ended = m_detail.run && hasEnded(m_detail.run->state);
    m_empty->setActionVisible(!ended && !waits());
    const std::string unknown = !ended && m_detail.run ? whyNoneIsKnown(*m_detail.run) : "";
    if (!unknown.empty())
        return m_empty->setTexts(tr("No checkpoint is known"), capitalized(unknown) + '.');
    if (!ended)
        return m_empty->setTexts(tr("No checkpoint yet"),
                                 tr("The run saves one as often as its spec says, when it pauses "
                                    "and when you ask for one."));
    const std::string why =
        whyNoCheckpoint(*m_detail.run, m_detail.history.checkpoints, m_detail.history.requested);
    m_empty->setTexts(tr("No checkpoint"), capitalized(why) + '.');
}

/// The checkpoint that a person chose, or else the newest of the living line, of the steps that are
/// looked at if they have one.
void CheckpointsTab::select() {
    const QSignalBlocker quiet(m_table); // not chosen by a person
    const int kept = m_model->rowOfPath(m_chosenPath);
    if (kept < 0)
        m_chosenPath.clear();
    const int inSpan = m_span ? m_model->rowOfNewest(*m_span) : -1;
    const int row = kept >= 0 ? kept : inSpan >= 0 ? inSpan : m_model->rowOfNewest();
    if (m_model->at(row) && m_table->currentRow() != row)
        m_table->selectRow(row);
}

void CheckpointsTab::setSpan(const std::optional<StepSpan>& span) {
    if (std::exchange(m_span, span) == m_span)
        return;
    select();
    showSelection();
    refresh();
}

void CheckpointsTab::setSmoothing(const Smoothing& smoothing) {
    m_smoothing = smoothing;
    refresh();
}

void CheckpointsTab::refresh() {
    if (isVisible())
        m_puller.request();
}

void CheckpointsTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_puller.request();
}

void CheckpointsTab::pull() {
    if (!m_detail.run)
        return;
    ChartQuery query = queryOf(*m_detail.run);
    query.maxPoints = kPoints;
    if (m_span)
        query.range = {static_cast<double>(m_span->first),
                       static_cast<double>(std::min(m_span->last, m_detail.run->step))};
    query.smoothing = m_smoothing;
    query.panels = {QString::fromStdString(builtinMetric(metric::kTrainLoss).panel)};
    const auto read = [query, run = *m_detail.run](StoreReader& reader) {
        return std::pair(readPanels(reader, query), removedNext(reader, run));
    };
    m_puller.await(m_context.store.ask(read), this, [this](const auto& found) {
        showCurves(found.first);
        m_model->setRemovedNext(found.second);
    });
}

void CheckpointsTab::showCurves(const std::vector<PanelCurves>& panels) {
    ChartView view;
    view.high = m_detail.run ? std::max<double>(1, static_cast<double>(m_detail.run->step)) : 1;
    std::vector<Curve> curves;
    const QString loss = QString::fromStdString(metricName(metric::kTrainLoss));
    for (const PanelCurves& panel : panels)
        std::ranges::copy_if(panel.curves, std::back_inserter(curves), [&loss](const Curve& each) {
            return each.name == loss && !each.x.isEmpty();
        });
    view.low = curves.empty() ? 0 : view.high;
    for (const Curve& curve : curves) {
        view.low = std::clamp(curve.x.front() - 1, 0.0, view.low);
        view.high = std::max(view.high, curve.x.back());
    }
    view.high += 0.01 * (view.high - view.low);
    if (m_span) {
        view.low = static_cast<double>(m_span->first);
        if (m_span->last != StepSpan::kLast)
            view.high = std::max(view.low + 1, static_cast<double>(m_span->last));
    }
    m_chart->show(std::move(curves), view);
    m_chart->setMarks(checkpointMarks(m_detail.history));
}

void CheckpointsTab::verifyAll() {
    m_verdicts.clear();
    for (int row = 0; row < m_model->rowCount(); ++row)
        if (isSomewhere(*m_model->at(row)))
            m_unverified.push_back(*m_model->at(row));
    verifyNext();
}

/// One after another, so that other work of the node comes between.
void CheckpointsTab::verifyNext() {
    if (!m_unverified.empty()) {
        const StoredCheckpoint& next = m_unverified.front();
        m_verdicts[next.saved.path] = {tr("Verifying"), Tone::kAccent};
        const QString name = QString::fromStdString(checkpointNameOf(next));
        whenAnswered(m_context.engine.ask(VerifyCheckpointRequest{m_run, name}), this,
                     [this, run = m_run, path = next.saved.path](const Result<void>& verified) {
                         if (run == m_run)
                             onVerified(path, verified);
                     });
    }
    showVerdicts();
}

void CheckpointsTab::onVerified(const std::string& path, const Result<void>& verified) {
    // Another answer, from before the person went to another run and back.
    if (m_unverified.empty() || m_unverified.front().saved.path != path)
        return;
    const bool isDamaged = !verified && verified.error().code == ErrorCode::kCorrupt;
    m_verdicts[path] = {capitalized(verdictText(verified)), verified    ? Tone::kGood
                                                            : isDamaged ? Tone::kBad
                                                                        : Tone::kWarn};
    m_unverified.pop_front();
    verifyNext();
}

void CheckpointsTab::showVerdicts() {
    m_model->setVerdicts(m_verdicts);
    m_table->setColumnWanted(CheckpointsModel::kVerified, m_model->showsVerified());
    if (!m_unverified.empty() && m_verify->hasFocus())
        m_table->setFocus(); // else Qt moves it to the next button, which branches
    m_verify->setEnabled(m_unverified.empty());
    showSelection();
}

void CheckpointsTab::showSelection() {
    const StoredCheckpoint* checkpoint = chosen();
    const bool retired = checkpoint && checkpoint->retiredBy != 0;
    QString text = tr("select a checkpoint");
    if (checkpoint)
        text = (retired ? tr("step %1 selected, set aside by attempt %2")
                              .arg(formatCount(checkpoint->saved.step))
                              .arg(checkpoint->retiredBy)
                        : tr("step %1 selected").arg(formatCount(checkpoint->saved.step)));
    if (checkpoint && m_span && !m_span->holds(checkpoint->saved.step))
        text += kSeparator + tr("not of these steps");
    const auto verdict = checkpoint ? m_verdicts.find(checkpoint->saved.path) : m_verdicts.end();
    if (verdict != m_verdicts.end())
        text += kSeparator + verdict->second.text;
    m_selected->setFullText(text);
    const bool isThere = checkpoint && isSomewhere(*checkpoint);
    showRestoring(isThere ? checkpoint : nullptr);
    m_more->setEnabled(isThere);
    m_compare->setEnabled(m_model->rowCount() > 1);
    m_pin->setEnabled(checkpoint && !checkpoint->removed); // retention looks where it was saved
    m_pin->setText(checkpoint && checkpoint->isPinned ? tr("Unpin") : tr("Pin"));
    m_try->setEnabled(isThere);
    m_branch->setEnabled(isThere);
    m_remove->setVisible(checkpoint && !checkpoint->removed &&
                         isRemovable(*checkpoint, m_detail.history.checkpoints));
    m_bringBack->setVisible(checkpoint && m_model->canBeBroughtBack(*checkpoint));
    m_chart->selectMark(checkpoint ? std::optional(checkpoint->saved.step) : std::nullopt);
}

/// `checkpoint` null: there is none to restore.
void CheckpointsTab::showRestoring(const StoredCheckpoint* checkpoint) {
    const bool ended = m_detail.run && hasEnded(m_detail.run->state);
    const bool isLast = checkpoint && m_detail.run && m_detail.run->totalSteps > 0 &&
                        checkpoint->saved.step >= m_detail.run->totalSteps;
    const QString why =
        waits()  ? tr("The run waits in the queue: take it out first")
        : isLast ? tr("This is the last step of the run, so nothing is left to train; a branch can "
                      "have more steps")
        : ended  ? tr("The next attempt of this run starts from here; later steps and checkpoints "
                       "are set aside, and stay")
                 : tr("Pause or stop the run first");
    m_restore->setEnabled(checkpoint && ended && !waits() && !isLast);
    m_restore->setToolTip(why);
    m_restoreOn->setEnabled(m_restore->isEnabled());
    m_restoreOn->setToolTip(why);
}

void CheckpointsTab::selectStep(qint64 step) {
    if (const int row = m_model->rowOfStep(step); row >= 0)
        m_table->selectRow(row);
}

} // namespace rm
