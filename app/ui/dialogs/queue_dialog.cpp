// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/queue_dialog.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/queue/queue_order.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/toast.h"

#include <QHBoxLayout>
#include <QListWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace rm {

namespace {

constexpr int kRunRole = Qt::UserRole;
constexpr int kListHeight = 240;

QString howItWorks() {
    return QueueDialog::tr("A run starts when its nodes are free, while Ringmaster is open or "
                           "`ringmaster queue work` runs. Drag to change the order.");
}

} // namespace

QueueDialog::QueueDialog(const AppContext& context, QWidget* parent)
    : Sheet(tr("Queue"), howItWorks(), "queueDialog", parent)
    , m_context(context)
    , m_list(new QListWidget) {
    setWantedWidth(size::kTableDialogWidth);
    m_list->setObjectName("queueList");
    m_list->setAccessibleName(tr("Runs that wait, in their order"));
    m_list->setDragDropMode(QAbstractItemView::InternalMove);
    m_list->setMinimumHeight(kListHeight);
    m_list->setWordWrap(true);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    content()->addWidget(m_list);
    m_up = addButton(tr("Up"), "", "queueUp");
    m_down = addButton(tr("Down"), "", "queueDown");
    m_out = addButton(tr("Take out"), "danger", "queueOut");
    QPushButton* close = addButton(tr("Close"), "primary", "closeQueue");
    connect(m_up, &QPushButton::clicked, this, [this] { move(-1); });
    connect(m_down, &QPushButton::clicked, this, [this] { move(1); });
    connect(m_out, &QPushButton::clicked, this, &QueueDialog::takeOut);
    connect(close, &QPushButton::clicked, this, &QDialog::accept);
    connect(m_list, &QListWidget::currentRowChanged, this, &QueueDialog::offer);
    // The rows are moved before this is told, and must not be replaced while they are.
    connect(m_list->model(), &QAbstractItemModel::rowsMoved, this, &QueueDialog::onDropped,
            Qt::QueuedConnection);
    connect(&context.runs, &RunsFeed::changed, this, &QueueDialog::read);
    offer();
    read();
}

void QueueDialog::read() {
    const auto rows = m_context.store.ask([](StoreReader& reader) {
        std::vector<Row> found;
        const auto queue = reader.queue();
        const BusyNodes busy = busyNodes(reader.liveRuns());
        for (const QueueEntry& entry : queue)
            if (const auto run = reader.run(entry.run))
                found.push_back({entry.run, run->name + '\n' +
                                                QString::fromStdString(waitReason(busy, entry))});
        return found;
    });
    whenAnswered(rows, this, [this](const std::vector<Row>& found) { show(found); });
}

void QueueDialog::show(const std::vector<Row>& rows) {
    if (rows == m_rows && static_cast<size_t>(m_list->count()) == rows.size())
        return;
    const QString chosen =
        m_list->currentItem() ? m_list->currentItem()->data(kRunRole).toString() : QString();
    const int before = std::max(0, m_list->currentRow());
    m_rows = rows;
    m_list->clear();
    for (const Row& row : rows) {
        auto* item = new QListWidgetItem(row.words, m_list);
        item->setData(kRunRole, row.run);
        item->setToolTip(row.run);
    }
    const auto at = std::ranges::find(rows, chosen, &Row::run);
    m_list->setCurrentRow(at != rows.end() ? static_cast<int>(at - rows.begin())
                                           : std::min(before, m_list->count() - 1));
    setText(rows.empty() ? tr("Nothing waits. \"Queue…\" on the page New run puts runs here.")
                         : howItWorks());
    offer();
}

void QueueDialog::offer() {
    const int row = m_list->currentRow();
    m_up->setEnabled(row > 0);
    m_down->setEnabled(row >= 0 && row + 1 < m_list->count());
    m_out->setEnabled(row >= 0);
}

void QueueDialog::move(int by) {
    if (QListWidgetItem* item = m_list->currentItem())
        moveTo(item->data(kRunRole).toString(), m_list->currentRow() + by);
}

void QueueDialog::moveTo(const QString& run, int place) {
    whenAnswered(m_context.engine.ask(MoveInQueueRequest{run, place}), this,
                 [this](const Result<void>& moved) {
                     if (!moved)
                         m_context.toast.say(QString::fromStdString(moved.error().message));
                     m_context.runs.refresh();
                     read();
                 });
}

/// The first row that is elsewhere than it was is the one that was dragged, or the one whose place
/// it took, which comes to the same.
void QueueDialog::onDropped() {
    std::vector<Row> now;
    for (int row = 0; row < m_list->count(); ++row) {
        const auto it =
            std::ranges::find(m_rows, m_list->item(row)->data(kRunRole).toString(), &Row::run);
        if (it != m_rows.end())
            now.push_back(*it);
    }
    if (now.size() != m_rows.size())
        return; // another one came in meanwhile; what is read next is shown
    const std::vector<Row> before = std::exchange(m_rows, now); // a next drop counts from here
    offer();
    const auto placeIn = [](const std::vector<Row>& rows, const QString& run) {
        return static_cast<int>(std::ranges::find(rows, run, &Row::run) - rows.begin());
    };
    for (int row = 0; row < static_cast<int>(now.size()); ++row) {
        const QString run = now[static_cast<size_t>(row)].run;
        const int was = placeIn(before, run);
        if (was == row)
            continue;
        // Dragged up: it stands here now. Dragged down: the run that was here is further down.
        const QString wasHere = before[static_cast<size_t>(row)].run;
        return was > row + 1 ? moveTo(run, row) : moveTo(wasHere, placeIn(now, wasHere));
    }
}

void QueueDialog::takeOut() {
    QListWidgetItem* item = m_list->currentItem();
    if (!item)
        return;
    const CommandRequest stop{item->data(kRunRole).toString(), CommandKind::kStop};
    whenAnswered(m_context.engine.ask(stop), this, [this](const Result<CommandState>& done) {
        if (!done)
            m_context.toast.say(QString::fromStdString(done.error().message));
        m_context.runs.refresh();
        read();
    });
}

} // namespace rm
