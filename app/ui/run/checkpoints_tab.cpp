// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/checkpoints_tab.h"

#include "app/ui/data/run_words.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/format.h"
#include "app/ui/models/checkpoints_model.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/theme.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"

#include <QHBoxLayout>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace rm {

namespace {
constexpr int kPullMs = 200;
constexpr int kPoints = 1500;
constexpr double kSmoothing = 0.93;
} // namespace

CheckpointsTab::CheckpointsTab(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this) {
    buildUi();
    wire();
    showSelection();
}

void CheckpointsTab::buildUi() {
    m_chart = new LineChart(tr("train/loss, checkpoints marked"), "chartCheckpoints");
    m_chart->setFixedHeight(size::kChartMin + 20);
    m_model = new CheckpointsModel(this);
    m_table = new Table("checkpointsTable", tr("Checkpoints"));
    m_table->setModel(m_model);
    m_table->setColumnWidths({110, 140, 100, 0, 240, 190});
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
    auto* empty = new EmptyState(tr("No checkpoint yet"),
                                 tr("The run saves one as often as its spec says, when it pauses "
                                    "and when you ask for one."),
                                 tr("Checkpoint now"));
    connect(empty, &EmptyState::acted, this, &CheckpointsTab::checkpointAsked);
    m_stack = new QStackedWidget;
    m_stack->addWidget(content);
    m_stack->addWidget(empty);
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
    m_branch = makeButton(tr("Branch a new run"), "", "branchRun");
    m_restore = makeButton(tr("Restore and resume"), "primary", "restoreCheckpoint");
    row->addWidget(m_selected, 1);
    row->addWidget(m_branch);
    row->addWidget(m_restore);
    return bar;
}

void CheckpointsTab::wire() {
    connect(&m_puller, &Puller::pull, this, &CheckpointsTab::pull);
    connect(m_table, &Table::rowChosen, this, &CheckpointsTab::showSelection);
    connect(m_chart, &LineChart::markClicked, this, &CheckpointsTab::selectStep);
    connect(m_restore, &QPushButton::clicked, this, [this] {
        if (const auto* chosen = m_model->at(m_table->currentRow()))
            Q_EMIT restoreAsked(chosen->saved.step);
    });
    connect(m_branch, &QPushButton::clicked, this, [this] {
        if (const auto* chosen = m_model->at(m_table->currentRow()))
            Q_EMIT branchAsked(chosen->saved.step);
    });
}

void CheckpointsTab::setRun(const QString& run) {
    m_run = run;
    m_detail = {};
    m_model->show({}, {});
    m_puller.restart();
}

void CheckpointsTab::show(const RunDetail& detail) {
    m_detail = detail;
    const auto* before = m_model->at(m_table->currentRow());
    const int64_t selected = before ? before->saved.step : -1;
    const QString node = detail.run && !detail.run->nodes.empty()
                             ? nodeTitle(detail.run->nodes.front().nodeName)
                             : QString();
    m_model->show(detail.history.checkpoints, node);
    m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 0 : 1);
    if (m_table->currentRow() < 0 && m_model->rowCount() > 0)
        m_table->selectRow(std::max(0, m_model->rowOfStep(selected)));
    showSelection();
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
    ChartQuery query{.run = m_run, .ranks = m_detail.run->ranks, .lastStep = m_detail.run->step};
    query.maxPoints = kPoints;
    query.smoothing = kSmoothing;
    query.panels = {Panel::kLoss};
    m_puller.await(
        m_context.store.ask([query](StoreReader& reader) { return readPanels(reader, query); }),
        this, [this](const std::vector<PanelCurves>& panels) {
            ChartView view;
            view.high =
                m_detail.run ? std::max<double>(1, static_cast<double>(m_detail.run->step)) : 1;
            view.high *= 1.01;
            m_chart->show({panels.front().curves.front()}, view);
            m_chart->setMarks(checkpointMarks(m_detail.history), view);
        });
}

void CheckpointsTab::showSelection() {
    const StoredCheckpoint* chosen = m_model->at(m_table->currentRow());
    const bool ended = m_detail.run && hasEnded(m_detail.run->state);
    m_selected->setFullText(chosen ? tr("step %1 selected").arg(formatCount(chosen->saved.step))
                                   : tr("select a checkpoint"));
    m_restore->setEnabled(chosen && ended);
    m_restore->setToolTip(ended ? tr("The next attempt of this run starts from here; later steps "
                                     "stay stored but are superseded")
                                : tr("Pause or stop the run first"));
    m_branch->setEnabled(chosen);
    m_chart->selectMark(chosen ? std::optional(chosen->saved.step) : std::nullopt);
}

void CheckpointsTab::selectStep(qint64 step) {
    if (const int row = m_model->rowOfStep(step); row >= 0)
        m_table->selectRow(row);
}

} // namespace rm
