// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/runs_page.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/runs/run_groups.h"
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
#include "app/ui/runs/filters_button.h"
#include "app/ui/runs/group_button.h"
#include "app/ui/runs/runs_actions.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/table.h"
#include "app/ui/widgets/toast.h"

#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QScopedValueRollback>
#include <QSet>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <memory>

namespace rm {

namespace {

// Widths of columns before anything is in them, and the most that content makes of them.
constexpr int kLeastOfNotes = 72;
constexpr int kKeyWidth = 60, kMostOfKey = 160; ///< widths of a column that a person has added
const std::vector<int> kWidths{140, 110, 118, 66, 66, 62, 90, 90, 104, 80, 0, 36};
const std::map<int, int> kMost{
    {RunsModel::kName, 300},   {RunsModel::kState, 240},   {RunsModel::kStep, 150},
    {RunsModel::kLoss, 100},   {RunsModel::kBest, 100},    {RunsModel::kNodes, 200},
    {RunsModel::kParent, 200}, {RunsModel::kCreated, 130}, {RunsModel::kTags, 180}};

QString filterHelp() {
    return RunsPage::tr(
        "Words of the name, id, state, node, tags and notes; name: state: node: tag: note: "
        "branch: sweep: with a part of that; starred:yes, archived:yes; and conditions with < <= "
        "> >= = != on loss, best, step, ranks, any setting (optimizer.lr, or lr) and the last "
        "value of any metric (validation/bleu; min: max: best: before it). All must hold. @NAME "
        "is a filter that was saved.");
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
    buildHeader();
    column->addWidget(m_header);
    column->addLayout(buildFilter());
    m_problem = makeText(QString(), "bad");
    m_problem->setObjectName("runsFilterProblem");
    m_problem->hide();
    column->addWidget(m_problem);
    buildTable();
    auto* card = new Card;
    card->body()->setContentsMargins(1, 1, 1, 1);
    card->body()->addWidget(m_stack);
    column->addWidget(card, 1);
    m_leftOut = makeText(QString(), "secondary");
    m_leftOut->setObjectName("runsLeftOut");
    m_leftOut->hide();
    column->addWidget(m_leftOut);
}

void RunsPage::buildHeader() {
    m_header = new PageHeader(tr("Runs"));
    m_queue = m_header->addAction(tr("Queue"), "quiet", "showQueue");
    m_queue->setToolTip(tr("The runs that wait for free nodes, and their order"));
    QSizePolicy stays = m_queue->sizePolicy();
    stays.setRetainSizeWhenHidden(true); // or the actions would go below the title with it
    m_queue->setSizePolicy(stays);
    m_columns = m_header->addAction(tr("Columns"), "quiet", "chooseColumns");
    m_columns->setToolTip(tr("Settings and metrics as columns"));
    m_compare = m_header->addAction(tr("Compare"), "", "compareRuns");
    m_more = m_header->addAction(tr("More"), "", "moreRuns");
    m_delete = m_header->addAction(tr("Delete"), "", "deleteRun");
    m_new = m_header->addAction(tr("New run"), "primary", "newRun");
}

QLayout* RunsPage::buildFilter() {
    m_filter = new QLineEdit;
    m_filter->setObjectName("runsFilter");
    m_filter->setAccessibleName(tr("Filter runs"));
    m_filter->setPlaceholderText(
        tr("Filter by words, or by conditions: loss < 3  lr >= 1e-3  tag:baseline   Ctrl+F"));
    m_filter->setToolTip(filterHelp());
    m_filter->setClearButtonEnabled(true);
    m_filters = new FiltersButton(m_context);
    m_group = new GroupButton;
    m_archived = makeButton(tr("Archived"), "quiet", "showArchived");
    m_archived->setCheckable(true);
    m_archived->setToolTip(tr("Show the archived runs alone"));
    m_trash = makeButton(tr("Trash"), "quiet", "showTrash");
    auto* row = new QHBoxLayout;
    row->setSpacing(size::kCardGap);
    row->addWidget(m_filter, 1);
    row->addWidget(m_filters);
    row->addWidget(m_group);
    row->addWidget(m_archived, 0, Qt::AlignRight);
    row->addWidget(m_trash, 0, Qt::AlignRight); // also where it stands alone
    return row;
}

void RunsPage::buildTable() {
    m_model = new RunsModel(this);
    m_model->setStyles(m_context.styles);
    m_rows = new RunsFilter(this);
    m_rows->setSourceModel(m_model);
    m_table = new Table("runsTable", tr("Runs"));
    m_table->setModel(m_rows);
    m_table->allowSeveral();
    m_table->setSortingEnabled(true);
    m_table->setLeastLeft(kLeastOfNotes);
    m_table->installEventFilter(this);
    m_actions = new RunsActions(m_context, m_table);
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
}

void RunsPage::wire() {
    connect(m_new, &QPushButton::clicked, this, &RunsPage::newRunRequested);
    connect(m_empty, &EmptyState::acted, this, &RunsPage::newRunRequested);
    connect(m_nothingFound, &EmptyState::acted, this, [this] {
        m_archived->setChecked(false);
        m_filter->clear();
    });
    connect(m_compare, &QPushButton::clicked, this,
            [this] { Q_EMIT compareRequested(selectedRuns()); });
    connect(m_more, &QPushButton::clicked, this, &RunsPage::showMore);
    connect(m_delete, &QPushButton::clicked, &m_actions->deletion(), &QAction::trigger);
    connect(m_columns, &QPushButton::clicked, this, &RunsPage::askColumns);
    connect(m_trash, &QPushButton::clicked, this,
            [this] { (new TrashDialog(m_context, window()))->open(); });
    connect(m_queue, &QPushButton::clicked, this,
            [this] { (new QueueDialog(m_context, window()))->open(); });
    connect(m_archived, &QPushButton::toggled, this, &RunsPage::applyFilter);
    connect(m_filter, &QLineEdit::textChanged, this, &RunsPage::readFilter);
    connect(m_filters, &FiltersButton::chosen, m_filter, &QLineEdit::setText);
    connect(m_group, &GroupButton::chosen, this, &RunsPage::groupBy);
    connect(m_group, &GroupButton::foldAllRequested, this, [this](bool isFolded) {
        m_rows->foldAll(isFolded);
        noteFolded();
    });
    connect(&m_puller, &Puller::pull, this, &RunsPage::pullValues);
    connect(&m_context.runs, &RunsFeed::changed, this, &RunsPage::refresh);
    wireTable();
    wireColumns();
}

void RunsPage::wireTable() {
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_table, &QWidget::customContextMenuRequested, this, &RunsPage::showMenu);
    connect(m_table, &Table::editRequested, &m_actions->rename(), &QAction::trigger);
    connect(m_table, &Table::opened, this, &RunsPage::open);
    connect(m_table, &QTableView::clicked, this, &RunsPage::click);
    connect(m_table, &Table::rowChosen, this, &RunsPage::offerActions);
    connect(m_table, &Table::columnsFitted, this, &RunsPage::showLeftOut);
    connect(m_model, &RunsModel::notesEdited, this,
            [this](const QString& run, const QString& notes) {
                edit(NotesRequest{run, notes});
            });
    connect(m_model, &RunsModel::tagsEdited, this,
            [this](const QString& run, const QStringList& tags) {
                edit(TagsRequest{run, tags});
            });
}

void RunsPage::wireColumns() {
    const QHeaderView* header = m_table->horizontalHeader();
    connect(header, &QHeaderView::sectionMoved, this, &RunsPage::notePlaced);
    connect(m_table, &Table::columnDrawn, this, &RunsPage::noteArrangement);
    connect(header, &QHeaderView::sortIndicatorChanged, this,
            [this](int column, Qt::SortOrder order) {
                if (m_isArranging || column < 0)
                    return;
                m_layout.sortedBy = QString::fromStdString(m_model->columnId(column));
                m_layout.isDescending = order == Qt::DescendingOrder;
                save();
            });
}

void RunsPage::restore() {
    m_layout = readRunsLayout(m_context.paths);
    m_rows->setFolded(m_layout.folded);
    m_rows->setGroupKey(m_layout.group);
    showColumns(m_layout.keys);
    refresh();
    m_filter->setText(m_layout.filter);
}

void RunsPage::save() {
    writeRunsLayout(m_context.paths, m_layout);
}

void RunsPage::refresh() {
    const std::vector<RunSummary>& runs = m_context.runs.runs();
    keepSelected([this, &runs] {
        m_model->setRuns(runs);
        m_rows->regroup();
    });
    m_table->setColumnWanted(RunsModel::kParent,
                             !std::ranges::all_of(runs, &QString::isEmpty, &RunSummary::parentRun));
    m_table->setEmptyColumns(emptyColumns());
    if (!keysToRead().empty())
        m_puller.request();
    showRows();
}

void RunsPage::showFacts() {
    const std::vector<RunSummary>& runs = m_context.runs.runs();
    const auto count = [&](bool isHeld) {
        return std::ranges::count_if(runs, [isHeld](const RunSummary& run) {
            return run.state == RunStateKind::kRunning && run.held == isHeld;
        });
    };
    const auto all = static_cast<int64_t>(runs.size());
    const int shown = m_rows->runsInSight();
    QString facts = shown == all ? counted(all, tr("1 run"), tr("%1 runs"))
                                 : tr("%1 of %2 runs").arg(shown).arg(all);
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
}

/// A mistake is shown below the field, and the rows stay as they are; all of them where there are
/// none, as what was typed of a condition so far may be found nowhere as a word.
void RunsPage::readFilter() {
    m_layout.filter = m_filter->text();
    save();
    auto filter = filterTyped(m_context.paths, m_filter->text());
    setStyleProperty(m_filter, "invalid", !filter);
    m_filter->setToolTip(filter ? filterHelp()
                                : asPlain(QString::fromStdString(filter.error().message)));
    m_filters->setFilter(m_filter->text(), filter.has_value());
    m_problem->setText(filter ? QString() : QString::fromStdString(filter.error().message));
    m_problem->setVisible(!filter);
    if (!filter && m_rows->rowCount() > 0)
        return;
    m_wanted = filter ? std::move(*filter) : RunFilter();
    applyFilter();
}

RunFilter RunsPage::effectiveFilter() const {
    return m_archived->isChecked() ? ofArchive(m_wanted) : m_wanted;
}

void RunsPage::applyFilter() {
    if (keysToRead().empty())
        m_rows->setFilter(effectiveFilter());
    else
        m_puller.restart();
    showRows();
}

/// Those of the filter, the columns and the groups.
std::vector<std::string> RunsPage::keysToRead() const {
    std::vector<std::string> keys = keysBesidesSummary(m_wanted);
    keys.insert(keys.end(), m_model->keys().begin(), m_model->keys().end());
    if (const auto key = m_layout.group.empty() ? std::nullopt : keyToRead(m_layout.group))
        keys.push_back(*key);
    return keys;
}

void RunsPage::pullValues() {
    const auto read = [keys = keysToRead(), runs = m_context.runs.runs(), values = m_values](
                          StoreReader& reader) { return values->valuesOf(reader, runs, keys); };
    m_puller.await(m_context.store.ask(read), this, [this](const RunValues::Table& found) {
        keepSelected([&] {
            m_model->setValues(found);
            m_rows->setFilter(effectiveFilter(), found);
        });
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
    connect(dialog, &ColumnsDialog::resetRequested, this, &RunsPage::resetColumns);
    dialog->open();
}

void RunsPage::showColumns(const std::vector<std::string>& keys) {
    m_layout.keys = keys;
    {
        const QScopedValueRollback arranging(m_isArranging, true);
        m_model->setKeys(keys);
        std::vector<int> widths = kWidths;
        widths.resize(widths.size() + keys.size(), kKeyWidth);
        m_table->setColumnWidths(widths);
    }
    arrangeColumns();
    narrowColumns();
    save();
    m_group->show(m_layout.group, keys);
    m_puller.restart();
}

bool RunsPage::isPlaced(int column) const {
    return m_layout.placed.contains(QString::fromStdString(m_model->columnId(column)));
}

/// Those of no run, which give way first.
std::vector<int> RunsPage::emptyColumns() const {
    const std::vector<RunSummary>& runs = m_context.runs.runs();
    std::vector<int> columns;
    if (std::ranges::all_of(runs, &QStringList::isEmpty, &RunSummary::tags))
        columns.push_back(RunsModel::kTags);
    if (std::ranges::all_of(runs, &QString::isEmpty, &RunSummary::notes))
        columns.push_back(RunsModel::kNotes);
    std::erase_if(columns, [this](int column) { return isPlaced(column); });
    return columns;
}

/// In a narrow table the least important columns are left out, but none that a person has added or
/// moved: where these do not fit, the table is scrolled.
void RunsPage::narrowColumns() {
    std::vector<int> leftOut{RunsModel::kParent, RunsModel::kNodes, RunsModel::kRanks,
                             RunsModel::kCreated};
    std::erase_if(leftOut, [this](int column) { return isPlaced(column); });
    m_table->setEmptyColumns(emptyColumns());
    m_table->setNarrowing(leftOut, {RunsModel::kState, RunsModel::kStep, RunsModel::kCreated});
}

QStringList RunsPage::columnIds() const {
    std::vector<int> columns{RunsModel::kStar,   RunsModel::kName,  RunsModel::kState,
                             RunsModel::kStep,   RunsModel::kLoss,  RunsModel::kBest,
                             RunsModel::kRanks,  RunsModel::kNodes, RunsModel::kParent,
                             RunsModel::kCreated};
    for (int column = RunsModel::kColumnCount; column < m_model->columnCount(); ++column)
        columns.push_back(column); // before what people write
    columns.insert(columns.end(), {RunsModel::kTags, RunsModel::kNotes});
    QStringList ids;
    for (const int column : columns)
        ids << QString::fromStdString(m_model->columnId(column));
    return ids;
}

/// -1: there is none.
int RunsPage::columnOf(const QString& id) const {
    for (int column = 0; column < m_model->columnCount(); ++column)
        if (m_model->columnId(column) == id.toStdString())
            return column;
    return -1;
}

void RunsPage::arrangeColumns() {
    const QScopedValueRollback arranging(m_isArranging, true);
    QHeaderView* header = m_table->horizontalHeader();
    const QStringList order = orderedColumns(columnIds(), m_layout.order);
    for (int place = 0; place < static_cast<int>(order.size()); ++place)
        header->moveSection(header->visualIndex(columnOf(order[place])), place);
    std::map<int, int> widths;
    for (const auto& [id, width] : m_layout.widths)
        if (const int column = columnOf(id); column >= 0)
            widths[column] = width;
    m_table->setDrawnWidths(widths);
    const int sorted = columnOf(m_layout.sortedBy);
    m_table->sortByColumn(sorted >= 0 ? sorted : static_cast<int>(RunsModel::kCreated),
                          m_layout.isDescending || sorted < 0 ? Qt::DescendingOrder
                                                              : Qt::AscendingOrder);
}

void RunsPage::resetColumns() {
    m_layout.order.clear();
    m_layout.placed.clear();
    m_layout.widths.clear();
    arrangeColumns();
    narrowColumns();
    save();
}

void RunsPage::notePlaced(int column) {
    const QString id = QString::fromStdString(m_model->columnId(column));
    if (m_isArranging)
        return;
    if (!m_layout.placed.contains(id))
        m_layout.placed << id;
    noteArrangement();
    narrowColumns();
}

void RunsPage::noteArrangement() {
    if (m_isArranging)
        return;
    const QHeaderView* header = m_table->horizontalHeader();
    m_layout.order.clear();
    for (int place = 0; place < header->count(); ++place)
        m_layout.order << QString::fromStdString(m_model->columnId(header->logicalIndex(place)));
    for (const auto& [column, width] : m_table->drawnWidths())
        m_layout.widths[QString::fromStdString(m_model->columnId(column))] = width;
    save();
}

void RunsPage::showLeftOut() {
    const QStringList titles = m_table->leftOutTitles();
    m_leftOut->setText(tr("No room for %1: a wider window shows them, or choose fewer columns.")
                           .arg(titles.join(QStringLiteral(", "))));
    m_leftOut->setVisible(!titles.isEmpty() && m_stack->currentWidget() == m_table);
}

void RunsPage::groupBy(const std::string& key) {
    m_layout.group = key;
    m_layout.folded.clear();
    m_rows->setFolded({});
    m_rows->setGroupKey(key);
    m_group->show(key, m_model->keys());
    save();
    if (keysToRead().empty())
        showRows();
    else
        m_puller.restart();
}

void RunsPage::noteFolded() {
    m_layout.folded = m_rows->folded();
    save();
    showRows();
}

void RunsPage::showRows() {
    const bool areAny = !m_context.runs.runs().empty();
    if (!areAny)
        m_stack->setCurrentWidget(readFailure() ? m_unread : m_empty);
    else if (m_rows->rowCount() == 0)
        m_stack->setCurrentWidget(m_nothingFound);
    else
        m_stack->setCurrentWidget(m_table);
    for (QWidget* control : std::initializer_list<QWidget*>{m_filter, m_filters, m_group, m_delete,
                                                            m_more, m_compare, m_columns, m_new})
        control->setVisible(areAny); // the empty page has a button for a new run of its own
    m_trash->setVisible(!m_context.runs.trash().empty());
    m_archived->setVisible(m_archived->isChecked() ||
                           std::ranges::any_of(m_context.runs.runs(), &RunSummary::isArchived));
    std::map<int, int> most = kMost;
    for (int column = RunsModel::kColumnCount; column < m_model->columnCount(); ++column)
        most[column] = kMostOfKey;
    m_table->fitToContents(most);
    showLeftOut();
    showFacts();
    offerActions();
    beginInTable();
}

RunsPage::Chosen RunsPage::chosen() const {
    Chosen chosen;
    for (const int row : m_table->selectedRows())
        if (m_rows->isHeader(row))
            chosen.headers << m_rows->groupOf(row);
        else
            chosen.runs << m_rows->index(row, 0).data(kIdRole).toString();
    return chosen;
}

/// A header stands for the runs of its group where none of them is selected itself.
QStringList RunsPage::selectedRuns() const {
    const std::vector<int> rows = m_table->selectedRows();
    QSet<QString> entered; // groups
    for (const int row : rows)
        if (!m_rows->isHeader(row))
            entered << m_rows->groupOf(row);
    QStringList runs;
    for (const int row : rows)
        if (!m_rows->isHeader(row))
            runs << m_rows->index(row, 0).data(kIdRole).toString();
        else if (!entered.contains(m_rows->groupOf(row)))
            runs << m_rows->runsUnder(row);
    return runs;
}

void RunsPage::select(const Chosen& wanted) {
    std::vector<int> rows;
    for (int row = 0; row < m_rows->rowCount(); ++row)
        if (m_rows->isHeader(row)
                ? wanted.headers.contains(m_rows->groupOf(row))
                : wanted.runs.contains(m_rows->index(row, 0).data(kIdRole).toString()))
            rows.push_back(row);
    m_table->selectRows(rows);
}

/// After what may move rows the same ones are selected, and nothing in the place of those that are
/// gone: a key pressed twice must not hit others.
void RunsPage::keepSelected(const std::function<void()>& change) {
    const Chosen before = chosen();
    const int place = m_table->currentIndex().row();
    change();
    if (chosen() != before)
        select(before);
    if (m_table->currentIndex().isValid() || place < 0 || m_rows->rowCount() == 0)
        return;
    const int row = std::min(place, m_rows->rowCount() - 1);
    m_table->selectionModel()->setCurrentIndex(m_rows->index(row, 0),
                                               QItemSelectionModel::NoUpdate);
}

QString RunsPage::selectedRun() const {
    const QStringList runs = selectedRuns();
    return runs.size() == 1 ? runs.front() : QString();
}

/// A click on a header folds its group away, but not one that selects; one on a star sets or takes
/// it.
void RunsPage::click(const QModelIndex& cell) {
    const bool selects =
        QGuiApplication::keyboardModifiers() & (Qt::ControlModifier | Qt::ShiftModifier);
    if (m_rows->isHeader(cell.row()))
        return selects ? void() : open(cell.row());
    if (cell.column() != RunsModel::kStar)
        return;
    if (const RunSummary* run = m_context.runs.find(cell.data(kIdRole).toString()))
        m_actions->setStarred({*run}, !run->isStarred);
}

void RunsPage::open(int row) {
    if (!m_rows->isHeader(row)) {
        Q_EMIT runChosen(m_rows->index(row, 0).data(kIdRole).toString());
        return;
    }
    m_rows->toggle(row);
    noteFolded();
}

/// Left folds the group of the header away that is chosen, right shows its runs.
bool RunsPage::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_table || event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    const QModelIndex header = m_rows->index(m_table->currentIndex().row(), 0);
    const QVariant isOpen = header.data(kHeaderRole);
    const bool isArrow = key == Qt::Key_Left || key == Qt::Key_Right;
    if (!isArrow || !isOpen.isValid())
        return QWidget::eventFilter(watched, event);
    if (isOpen.toBool() == (key == Qt::Key_Left))
        open(header.row());
    return true;
}

/// What can be done with what is chosen.
void RunsPage::fillMenu(QMenu& menu) {
    menu.setObjectName("runMenu");
    menu.setAttribute(Qt::WA_DeleteOnClose);
    menu.setToolTipsVisible(true);
    menu.addAction(tr("Open"), this, [this] { Q_EMIT runChosen(selectedRun()); })
        ->setEnabled(selectedRuns().size() == 1);
    menu.addAction(tr("Compare"), m_compare, &QPushButton::click)
        ->setEnabled(m_compare->isEnabled());
    menu.addSeparator();
    m_actions->addTo(menu);
    menu.addSeparator();
    addSorting(*menu.addMenu(tr("Sort by")));
}

/// Choosing the column by which the rows are sorted turns them round.
void RunsPage::addSorting(QMenu& menu) {
    menu.setObjectName("sortMenu");
    const QHeaderView* header = m_table->horizontalHeader();
    for (int place = 0; place < header->count(); ++place) {
        const int column = header->logicalIndex(place);
        if (header->isSectionHidden(column))
            continue;
        const bool isSorted = header->sortIndicatorSection() == column;
        const bool isAscending = header->sortIndicatorOrder() == Qt::AscendingOrder;
        const QString title =
            m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        QAction* action = menu.addAction(
            title.isEmpty() ? tr("Starred") : title, this, [this, column, isSorted, isAscending] {
                m_table->sortByColumn(column, isSorted && isAscending ? Qt::DescendingOrder
                                                                      : Qt::AscendingOrder);
            });
        action->setCheckable(true);
        action->setChecked(isSorted);
    }
}

void RunsPage::showMenu(const QPoint& at) {
    const int row = m_table->rowAt(at.y());
    if (row < 0)
        return;
    if (std::ranges::count(m_table->selectedRows(), row) == 0)
        m_table->selectRow(row);
    auto* menu = new QMenu(this);
    fillMenu(*menu);
    menu->popup(m_table->viewport()->mapToGlobal(at));
}

void RunsPage::showMore() {
    auto* menu = new QMenu(this);
    fillMenu(*menu);
    menu->popup(m_more->mapToGlobal(QPoint(0, m_more->height())));
}

void RunsPage::offerActions() {
    const QStringList ids = selectedRuns();
    const QSet<QString> wanted(ids.begin(), ids.end());
    std::vector<RunSummary> chosen;
    std::ranges::copy_if(m_context.runs.runs(), std::back_inserter(chosen),
                         [&](const RunSummary& run) { return wanted.contains(run.id); });
    m_actions->offer(chosen);
    const auto offer = [this](QPushButton* button, bool isUsable, const QString& why) {
        if (!isUsable && button->hasFocus())
            m_table->setFocus(Qt::OtherFocusReason); // or Qt would pass it on to anything
        button->setEnabled(isUsable);
        button->setToolTip(isUsable ? QString() : why);
    };
    offer(m_delete, m_actions->deletion().isEnabled(), m_actions->deletion().toolTip());
    offer(m_more, !chosen.empty(), tr("Choose a run first; several with Ctrl or Shift held"));
    offer(m_compare, chosen.size() > 1, tr("Choose two runs or more, with Ctrl or Shift held"));
}

template <class Request>
void RunsPage::edit(const Request& request) {
    whenAnswered(m_context.engine.ask(request), this, [this](const Result<void>& done) {
        if (!done)
            m_context.toast.say(QString::fromStdString(done.error().message));
    });
}

void RunsPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    beginInTable();
}

void RunsPage::beginInTable() {
    if (m_hasBegun || !isVisible() || m_stack->currentWidget() != m_table)
        return;
    m_hasBegun = true;
    m_table->setFocus(Qt::OtherFocusReason);
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
