// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/runs_page.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/settings/paths.h"
#include "app/core/store/read_failures.h"
#include "app/core/store/run_summary.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/dialogs/queue_dialog.h"
#include "app/ui/dialogs/run_dialogs.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/models/runs_model.h"
#include "app/ui/runs/columns_dialog.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/table.h"
#include "app/ui/widgets/toast.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QSet>
#include <QSettings>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <memory>

namespace rm {

namespace {

constexpr int kKeyWidth = 100; ///< of a column that a person has added

QSettings settingsOf(const AppContext& context) {
    return {context.paths.settings(), QSettings::IniFormat};
}

QString filterHelp() {
    return RunsPage::tr(
        "Words of the name, id, state, node, tags and notes; name: state: node: tag: note: "
        "branch: with a part of that; and conditions with < <= > >= = != on loss, best, step, "
        "ranks, any setting (optimizer.lr, or lr) and the last value of any metric "
        "(validation/bleu; min: max: best: before it). All must hold.");
}

} // namespace

RunsPage::RunsPage(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this) {
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
    m_columns = m_header->addAction(tr("Columns"), "quiet", "chooseColumns");
    m_columns->setToolTip(tr("Settings and metrics as columns"));
    m_queue = m_header->addAction(tr("Queue"), "quiet", "showQueue");
    m_queue->setToolTip(tr("The runs that wait for free nodes, and their order"));
    m_compare = m_header->addAction(tr("Compare"), "", "compareRuns");
    m_delete = m_header->addAction(tr("Delete"), "", "deleteRun");
    m_new = m_header->addAction(tr("New run"), "primary", "newRun");
    column->addWidget(m_header);
    m_filter = new QLineEdit;
    m_filter->setObjectName("runsFilter");
    m_filter->setAccessibleName(tr("Filter runs"));
    m_filter->setPlaceholderText(
        tr("Filter by words, or by conditions: loss < 3  lr >= 1e-3  tag:baseline   Ctrl+F"));
    m_filter->setToolTip(filterHelp());
    m_filter->setClearButtonEnabled(true);
    column->addWidget(m_filter);

    m_model = new RunsModel(this);
    m_rows = new RunsFilter(this);
    m_rows->setSourceModel(m_model);
    m_table = new Table("runsTable", tr("Runs"));
    m_table->setModel(m_rows);
    m_table->allowSeveral();
    m_table->setSortingEnabled(true);
    m_table->setNarrowing(
        {RunsModel::kParent, RunsModel::kNodes, RunsModel::kRanks, RunsModel::kCreated},
        {RunsModel::kState, RunsModel::kStep, RunsModel::kCreated});
    m_empty = new EmptyState(tr("No runs yet"),
                             tr("A run is one training job on one or more machines. The recipe "
                                "gpt-tiny finishes in under three minutes on this computer."),
                             tr("New run"));
    m_unread = new EmptyState(tr("The runs cannot be read"),
                              tr("Which there are is not known; above it is said why."));
    m_nothingFound = new EmptyState(tr("No run matches"), tr("Not all of this holds for any run."),
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
    connect(m_compare, &QPushButton::clicked, this,
            [this] { Q_EMIT compareRequested(selectedRuns()); });
    connect(m_delete, &QPushButton::clicked, this, &RunsPage::deleteSelected);
    connect(m_columns, &QPushButton::clicked, this, &RunsPage::askColumns);
    connect(m_trash, &QPushButton::clicked, this,
            [this] { (new TrashDialog(m_context, window()))->open(); });
    connect(m_queue, &QPushButton::clicked, this,
            [this] { (new QueueDialog(m_context, window()))->open(); });
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_table, &QWidget::customContextMenuRequested, this, &RunsPage::showMenu);
    connect(m_table, &Table::editRequested, this, &RunsPage::renameSelected);
    connect(m_filter, &QLineEdit::textChanged, this, &RunsPage::readFilter);
    connect(&m_puller, &Puller::pull, this, &RunsPage::pullValues);
    connect(m_table, &Table::opened, this,
            [this](int row) { Q_EMIT runChosen(m_rows->index(row, 0).data(kIdRole).toString()); });
    connect(m_table, &Table::rowChosen, this, &RunsPage::offerActions);
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
    const QStringList keys = settingsOf(m_context).value("runs/columns").toStringList();
    std::vector<std::string> known;
    for (const QString& key : keys)
        if (parseValueKey(key.toStdString()))
            known.push_back(key.toStdString());
    showColumns(known);
    m_table->sortByColumn(RunsModel::kCreated, Qt::DescendingOrder);
    refresh();
}

void RunsPage::refresh() {
    const QStringList selected = selectedRuns();
    const int place = m_table->currentRow();
    const std::vector<RunSummary>& runs = m_context.runs.runs();
    m_model->setRuns(runs);
    m_table->setColumnWanted(RunsModel::kParent,
                             !std::ranges::all_of(runs, &QString::isEmpty, &RunSummary::parentRun));
    if (selectedRuns() != selected)
        select(selected);
    const bool areGone = std::ranges::none_of(
        selected, [this](const QString& run) { return m_context.runs.find(run); });
    if (!selected.isEmpty() && areGone && m_rows->rowCount() > 0)
        m_table->selectRow(std::min(place, m_rows->rowCount() - 1)); // they were deleted
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
    const auto waiting =
        std::ranges::count_if(runs, [](const RunSummary& run) { return run.queuePlace > 0; });
    if (waiting > 0)
        facts += kSeparator + tr("%1 queued").arg(waiting);
    m_queue->setVisible(waiting > 0);
    m_header->setFacts(runs.empty() ? QString() : facts);
    if (!keysToRead().empty())
        m_puller.request();
    showRows();
}

/// A mistake is shown at the field, and the rows stay as they are.
void RunsPage::readFilter() {
    auto filter = parseRunFilter(m_filter->text().toStdString());
    if (filter)
        if (const auto known = checkKeys(*filter); !known)
            filter = tl::unexpected(known.error());
    setStyleProperty(m_filter, "invalid", !filter);
    m_filter->setToolTip(filter ? filterHelp()
                                : asPlain(QString::fromStdString(filter.error().message)));
    if (!filter)
        return;
    m_wanted = std::move(*filter);
    if (keysBesidesSummary(m_wanted).empty())
        m_rows->setFilter(m_wanted);
    else
        m_puller.restart();
    showRows();
}

/// Those of the filter, and the columns.
std::vector<std::string> RunsPage::keysToRead() const {
    std::vector<std::string> keys = keysBesidesSummary(m_wanted);
    keys.insert(keys.end(), m_model->keys().begin(), m_model->keys().end());
    return keys;
}

void RunsPage::pullValues() {
    const auto read = [keys = keysToRead(), runs = m_context.runs.runs(), values = m_values](
                          StoreReader& reader) { return values->valuesOf(reader, runs, keys); };
    m_puller.await(m_context.store.ask(read), this, [this](const RunValues::Table& found) {
        m_model->setValues(found);
        m_rows->setFilter(m_wanted, found);
        showRows();
    });
}

void RunsPage::askColumns() {
    std::vector<RunSummary> shown;
    for (int row = 0; row < m_rows->rowCount(); ++row)
        if (const RunSummary* run =
                m_context.runs.find(m_rows->index(row, 0).data(kIdRole).toString()))
            shown.push_back(*run);
    auto* dialog =
        new ColumnsDialog(m_context, std::move(shown), m_values, m_model->keys(), window());
    connect(dialog, &ColumnsDialog::chosen, this, &RunsPage::showColumns);
    dialog->open();
}

void RunsPage::showColumns(const std::vector<std::string>& keys) {
    QStringList stored;
    for (const std::string& key : keys)
        stored << QString::fromStdString(key);
    settingsOf(m_context).setValue("runs/columns", stored);
    m_model->setKeys(keys);
    std::vector<int> widths{184, 172, 128, 70, 70, 62, 128, 160, 104, 120, 0};
    widths.resize(widths.size() + keys.size(), kKeyWidth);
    m_table->setColumnWidths(widths);
    QHeaderView* header = m_table->horizontalHeader();
    for (int at = 0; at < static_cast<int>(keys.size()); ++at) // before what people write
        header->moveSection(header->visualIndex(RunsModel::kColumnCount + at),
                            header->visualIndex(RunsModel::kTags));
    m_puller.restart();
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
    m_compare->setVisible(m_model->rowCount() > 0);
    m_columns->setVisible(m_model->rowCount() > 0);
    offerActions();
    m_trash->setVisible(!m_context.runs.trash().empty());
    m_new->setVisible(m_model->rowCount() > 0); // the empty page has its own
}

QStringList RunsPage::selectedRuns() const {
    QStringList runs;
    for (const int row : m_table->selectedRows())
        runs << m_rows->index(row, 0).data(kIdRole).toString();
    return runs;
}

void RunsPage::select(const QStringList& runs) {
    const QSet<QString> wanted(runs.begin(), runs.end());
    std::vector<int> rows;
    for (int row = 0; row < m_rows->rowCount(); ++row)
        if (wanted.contains(m_rows->index(row, 0).data(kIdRole).toString()))
            rows.push_back(row);
    m_table->selectRows(rows);
}

QString RunsPage::selectedRun() const {
    const QStringList runs = selectedRuns();
    return runs.size() == 1 ? runs.front() : QString();
}

const RunSummary* RunsPage::selected() const {
    return m_context.runs.find(selectedRun());
}

/// What can be done with the run under the pointer.
void RunsPage::showMenu(const QPoint& at) {
    const int row = m_table->rowAt(at.y());
    if (row < 0)
        return;
    if (std::ranges::count(m_table->selectedRows(), row) == 0)
        m_table->selectRow(row);
    const bool isOne = selectedRuns().size() == 1;
    auto* menu = new QMenu(this);
    menu->setObjectName("runMenu");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Open"), this, [this] { Q_EMIT runChosen(selectedRun()); })
        ->setEnabled(isOne);
    menu->addAction(tr("Compare"), m_compare, &QPushButton::click)
        ->setEnabled(m_compare->isEnabled());
    menu->addAction(tr("Rename") + "\tF2", this, &RunsPage::renameSelected)->setEnabled(isOne);
    QAction* clean = menu->addAction(tr("Clean nodes"), this, &RunsPage::cleanSelected);
    clean->setEnabled(isOne && m_delete->isEnabled());
    clean->setToolTip(m_delete->toolTip());
    menu->addSeparator();
    menu->setToolTipsVisible(true);
    QAction* remove = menu->addAction(tr("Delete"), this, &RunsPage::deleteSelected);
    remove->setEnabled(m_delete->isEnabled());
    remove->setToolTip(m_delete->toolTip());
    menu->popup(m_table->viewport()->mapToGlobal(at));
}

void RunsPage::offerActions() {
    const QStringList runs = selectedRuns();
    const QSet<QString> chosen(runs.begin(), runs.end());
    const RunSummary* live = nullptr;
    for (const RunSummary& run : m_context.runs.runs())
        if (!hasEnded(run.state) && chosen.contains(run.id))
            live = &run;
    const auto offer = [this](QPushButton* button, bool isUsable, const QString& why) {
        if (!isUsable && button->hasFocus())
            m_table->setFocus(Qt::OtherFocusReason); // or Qt would pass it on to anything
        button->setEnabled(isUsable);
        button->setToolTip(isUsable ? QString() : why);
    };
    offer(m_delete, !runs.isEmpty() && !live,
          live ? tr("%1 has not ended: stop or pause it first").arg(live->name)
               : tr("Choose a run first; several with Ctrl or Shift held"));
    offer(m_compare, runs.size() > 1, tr("Choose two runs or more, with Ctrl or Shift held"));
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
    const QStringList runs = selectedRuns();
    const RunSummary* one = selected();
    const QString what = one ? tr("%1 deleted").arg(one->name)
                             : counted(runs.size(), tr("1 run deleted"), tr("%1 runs deleted"));
    struct Answers {
        qsizetype count = 0;
        QStringList deleted;
        QString problem;
    };
    const auto answers = std::make_shared<Answers>();
    const auto take = [this, runs, what, answers](const QString& run, const Result<void>& answer) {
        if (answer)
            answers->deleted << run;
        else
            answers->problem = QString::fromStdString(answer.error().message);
        if (++answers->count < runs.size())
            return;
        const bool areAll = answers->deleted.size() == runs.size();
        if (answers->deleted.isEmpty())
            report(answers->problem);
        else
            offerUndo(answers->deleted, areAll ? what
                                               : tr("%1 of %2 runs deleted: %3")
                                                     .arg(answers->deleted.size())
                                                     .arg(runs.size())
                                                     .arg(answers->problem));
    };
    for (const QString& run : runs)
        whenAnswered(m_context.engine.ask(DeletedRequest{run, true}), this,
                     [take, run](const Result<void>& answer) { take(run, answer); });
}

void RunsPage::offerUndo(const QStringList& runs, const QString& what) {
    m_context.toast.offer(what, tr("Undo"), [this, runs] {
        for (const QString& run : runs)
            whenAnswered(m_context.engine.ask(DeletedRequest{run, false}), this,
                         [this](const Result<void>& restored) {
                             if (!restored)
                                 report(QString::fromStdString(restored.error().message));
                         });
    });
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
