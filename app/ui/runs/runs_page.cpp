// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/runs_page.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/store/read_failures.h"
#include "app/core/store/run_summary.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/dialogs/run_dialogs.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/models/runs_model.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/table.h"
#include "app/ui/widgets/toast.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace rm {

RunsPage::RunsPage(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context) {
    buildUi();
    wire();
    restore();
}

void RunsPage::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kPageX, size::kPageY, size::kPageX, size::kPageY);
    column->setSpacing(size::kCardGap);
    m_header = new PageHeader(tr("Runs"));
    m_trash = m_header->addAction(tr("Trash"), "quiet", "showTrash");
    m_delete = m_header->addAction(tr("Delete"), "", "deleteRun");
    m_new = m_header->addAction(tr("New run"), "primary", "newRun");
    column->addWidget(m_header);
    m_filter = new QLineEdit;
    m_filter->setObjectName("runsFilter");
    m_filter->setAccessibleName(tr("Filter runs"));
    m_filter->setPlaceholderText(tr("Filter by name, id, state, node, tag or note   Ctrl+F"));
    m_filter->setClearButtonEnabled(true);
    column->addWidget(m_filter);

    m_model = new RunsModel(this);
    m_rows = new RunsFilter(this);
    m_rows->setSourceModel(m_model);
    m_table = new Table("runsTable", tr("Runs"));
    m_table->setModel(m_rows);
    m_table->setSortingEnabled(true);
    m_table->setColumnWidths({184, 172, 128, 70, 70, 62, 128, 160, 104, 120, 0});
    m_table->setNarrowing(
        {RunsModel::kParent, RunsModel::kNodes, RunsModel::kRanks, RunsModel::kCreated},
        {RunsModel::kState, RunsModel::kStep, RunsModel::kCreated});
    m_empty = new EmptyState(tr("No runs yet"),
                             tr("A run is one training job on one or more machines. The recipe "
                                "gpt-tiny finishes in under three minutes on this computer."),
                             tr("New run"));
    m_unread = new EmptyState(tr("The runs cannot be read"),
                              tr("Which there are is not known; above it is said why."));
    m_nothingFound = new EmptyState(tr("No run matches"), tr("No run holds all of these words."),
                                    tr("Clear the filter"));
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_nothingFound);
    m_stack->addWidget(m_unread);
    auto* card = new Card;
    card->body()->setContentsMargins(1, 1, 1, 1);
    card->body()->addWidget(m_stack);
    column->addWidget(card, 1);
}

void RunsPage::wire() {
    connect(m_new, &QPushButton::clicked, this, &RunsPage::newRunRequested);
    connect(m_empty, &EmptyState::acted, this, &RunsPage::newRunRequested);
    connect(m_nothingFound, &EmptyState::acted, m_filter, &QLineEdit::clear);
    connect(m_delete, &QPushButton::clicked, this, &RunsPage::deleteSelected);
    connect(m_trash, &QPushButton::clicked, this,
            [this] { (new TrashDialog(m_context, window()))->open(); });
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_table, &QWidget::customContextMenuRequested, this, &RunsPage::showMenu);
    connect(m_table, &Table::editRequested, this, &RunsPage::renameSelected);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& words) {
        m_rows->setWords(words);
        showRows();
    });
    connect(m_table, &Table::opened, this,
            [this](int row) { Q_EMIT runChosen(m_rows->index(row, 0).data(kIdRole).toString()); });
    connect(m_table, &Table::rowChosen, this, &RunsPage::offerDelete);
    connect(m_model, &RunsModel::notesEdited, this,
            [this](const QString& run, const QString& notes) {
                edit(NotesRequest{run, notes});
            });
    connect(m_model, &RunsModel::tagsEdited, this,
            [this](const QString& run, const QStringList& tags) {
                edit(TagsRequest{run, tags});
            });
    connect(&m_context.runs, &RunsFeed::changed, this, &RunsPage::refresh);
}

void RunsPage::restore() {
    m_table->sortByColumn(RunsModel::kCreated, Qt::DescendingOrder);
    refresh();
}

void RunsPage::refresh() {
    const QString selected = selectedRun();
    const std::vector<RunSummary>& runs = m_context.runs.runs();
    m_model->setRuns(runs);
    m_table->setColumnWanted(RunsModel::kParent,
                             !std::ranges::all_of(runs, &QString::isEmpty, &RunSummary::parentRun));
    for (int row = 0; row < m_rows->rowCount() && selectedRun() != selected; ++row)
        if (m_rows->index(row, 0).data(kIdRole).toString() == selected)
            m_table->selectRow(row);
    const auto count = [&](bool isHeld) {
        return std::ranges::count_if(runs, [isHeld](const RunSummary& run) {
            return run.state == RunStateKind::kRunning && run.held == isHeld;
        });
    };
    QString facts = counted(static_cast<int64_t>(runs.size()), tr("1 run"), tr("%1 runs"));
    if (const auto running = count(false); running > 0)
        facts += kSeparator + tr("%1 running").arg(running);
    if (const auto held = count(true); held > 0)
        facts += kSeparator + tr("%1 held").arg(held);
    m_header->setFacts(runs.empty() ? QString() : facts);
    showRows();
}

void RunsPage::showRows() {
    if (m_model->rowCount() == 0)
        m_stack->setCurrentWidget(readFailure() ? m_unread : m_empty);
    else if (m_rows->rowCount() == 0)
        m_stack->setCurrentWidget(m_nothingFound);
    else
        m_stack->setCurrentWidget(m_table);
    m_filter->setVisible(m_model->rowCount() > 0);
    m_delete->setVisible(m_model->rowCount() > 0);
    offerDelete();
    m_trash->setVisible(!m_context.runs.trash().empty());
    m_new->setVisible(m_model->rowCount() > 0); // the empty page has its own
}

QString RunsPage::selectedRun() const {
    const int row = m_table->currentRow();
    return row < 0 ? QString() : m_rows->index(row, 0).data(kIdRole).toString();
}

const RunSummary* RunsPage::selected() const {
    return m_context.runs.find(selectedRun());
}

/// What can be done with the run under the pointer.
void RunsPage::showMenu(const QPoint& at) {
    const int row = m_table->rowAt(at.y());
    if (row < 0)
        return;
    m_table->selectRow(row);
    auto* menu = new QMenu(this);
    menu->setObjectName("runMenu");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Open"), this, [this] { Q_EMIT runChosen(selectedRun()); });
    menu->addAction(tr("Rename") + "\tF2", this, &RunsPage::renameSelected);
    QAction* clean = menu->addAction(tr("Clean nodes"), this, &RunsPage::cleanSelected);
    clean->setEnabled(selected() && hasEnded(selected()->state));
    menu->addSeparator();
    menu->setToolTipsVisible(true);
    QAction* remove = menu->addAction(tr("Delete"), this, &RunsPage::deleteSelected);
    remove->setEnabled(m_delete->isEnabled());
    remove->setToolTip(m_delete->toolTip());
    menu->popup(m_table->viewport()->mapToGlobal(at));
}

void RunsPage::offerDelete() {
    const RunSummary* run = selected();
    const bool isLive = run && !hasEnded(run->state);
    m_delete->setEnabled(run && !isLive);
    m_delete->setToolTip(isLive ? tr("%1 has not ended: stop or pause it first").arg(run->name)
                                : QString());
}

void RunsPage::renameSelected() {
    if (const RunSummary* run = selected())
        (new RenameDialog(m_context, *run, window()))->open();
}

void RunsPage::cleanSelected() {
    if (const RunSummary* run = selected())
        (new CleanDialog(m_context, *run, window()))->open();
}

void RunsPage::deleteSelected() {
    const RunSummary* run = selected();
    if (!run)
        return;
    const auto onDeleted = [this, id = run->id, name = run->name](const Result<void>& deleted) {
        if (!deleted)
            return report(QString::fromStdString(deleted.error().message));
        m_context.toast.offer(tr("%1 deleted").arg(name), tr("Undo"), [this, id] {
            whenAnswered(m_context.engine.ask(DeletedRequest{id, false}), this,
                         [this](const Result<void>& restored) {
                             if (!restored)
                                 report(QString::fromStdString(restored.error().message));
                         });
        });
    };
    whenAnswered(m_context.engine.ask(DeletedRequest{run->id, true}), this, onDeleted);
}

template <class Request>
void RunsPage::edit(const Request& request) {
    whenAnswered(m_context.engine.ask(request), this, [this](const Result<void>& done) {
        if (!done)
            report(QString::fromStdString(done.error().message));
    });
}

void RunsPage::report(const QString& problem) {
    m_context.toast.say(problem);
}

bool RunsPage::focusTable() {
    if (!m_table->isVisible())
        return false;
    m_table->setFocus(Qt::ShortcutFocusReason);
    return true;
}

void RunsPage::focusFilter() {
    m_filter->setFocus();
    m_filter->selectAll();
}

} // namespace rm
