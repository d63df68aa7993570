// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/run_dialogs.h"

#include "app/core/answer.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"
#include "app/ui/widgets/toast.h"
#include "shared/io/clock.h"

#include <QLineEdit>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kTrashRows = 6; ///< in sight

QString wordsOf(const Error& error) {
    return QString::fromStdString(error.message);
}

/// "1.2 GB and 3 checkpoints on node-a"
QString ownFolderWords(const RunFolder& folder) {
    const QString size = formatBytes(static_cast<double>(folder.bytes));
    const QString node = nodeTitle(folder.node);
    if (!folder.problem.empty())
        return CleanDialog::tr("what %1 has is not known (%2)")
            .arg(node, QString::fromStdString(folder.problem));
    if (!folder.sameAs.empty())
        return CleanDialog::tr("%1 has the folder of %2").arg(node, nodeTitle(folder.sameAs));
    if (folder.bytes == 0)
        return CleanDialog::tr("nothing of it on %1").arg(node);
    if (folder.checkpoints == 0)
        return CleanDialog::tr("%1 on %2, without checkpoints").arg(size, node);
    const QString checkpoints = counted(folder.checkpoints, CleanDialog::tr("1 checkpoint"),
                                        CleanDialog::tr("%1 checkpoints"));
    return CleanDialog::tr("%1 with %2 on %3").arg(size, checkpoints, node);
}

/// The same with what lies in folders that the spec names.
QString folderWords(const RunFolder& folder) {
    QString words = ownFolderWords(folder);
    for (const NamedFolder& named : folder.named)
        words += ", " + QString::fromStdString(namedFolderWords(
                            named, formatBytes(static_cast<double>(named.bytes)).toStdString()));
    return words;
}

} // namespace

RenameDialog::RenameDialog(const AppContext& context, const RunSummary& run, QWidget* parent)
    : Sheet(tr("Rename %1").arg(run.name),
            tr("Its id stays %1; its branches and the terminal know it by the new name, too.")
                .arg(run.id),
            "renameDialog", parent)
    , m_context(context)
    , m_run(run.id)
    , m_name(new QLineEdit(run.name))
    , m_problem(makeText(QString(), "bad")) {
    m_name->setObjectName("newName");
    m_name->setAccessibleName(tr("Name"));
    m_name->selectAll();
    m_problem->setObjectName("renameProblem");
    m_problem->hide();
    content()->addWidget(m_name);
    content()->addWidget(m_problem);
    addCancel();
    m_confirm = addButton(tr("Rename"), "primary", "renameConfirm");
    m_confirm->setDefault(true);
    connect(m_name, &QLineEdit::textChanged, this,
            [this](const QString& name) { m_confirm->setEnabled(!name.trimmed().isEmpty()); });
    connect(m_confirm, &QPushButton::clicked, this, &RenameDialog::submit);
}

void RenameDialog::submit() {
    m_confirm->setEnabled(false);
    whenAnswered(m_context.engine.ask(RenameRequest{m_run, m_name->text().trimmed()}), this,
                 [this](const Result<void>& renamed) {
                     if (renamed)
                         return accept();
                     m_confirm->setEnabled(true);
                     m_problem->setText(wordsOf(renamed.error()));
                     m_problem->show();
                 });
}

CleanDialog::CleanDialog(const AppContext& context, const RunSummary& run, QWidget* parent)
    : Sheet(tr("Clean the nodes of %1?").arg(run.name), {}, "cleanDialog", parent)
    , m_context(context)
    , m_run(run)
    , m_text(makeText(tr("Asking its nodes what they have of it"), "bodySecondary")) {
    m_text->setObjectName("cleanText");
    content()->addWidget(m_text);
    addCancel();
    m_confirm = addButton(tr("Delete there"), "danger", "cleanConfirm");
    m_confirm->setEnabled(false);
    connect(m_confirm, &QPushButton::clicked, this, &CleanDialog::submit);
    ask();
}

void CleanDialog::ask() {
    const auto onNodes = [this](const Result<std::vector<RunFolder>>& folders) {
        const auto stored = m_context.store.ask(
            [run = m_run.id](StoreReader& reader) { return reader.checkpoints(run); });
        whenAnswered(stored, this, [this, folders](const std::vector<StoredCheckpoint>& all) {
            showFolders(folders, all);
        });
    };
    whenAnswered(m_context.engine.ask(OnNodesRequest{m_run.id}), this, onNodes);
}

void CleanDialog::showFolders(const Result<std::vector<RunFolder>>& folders,
                              const std::vector<StoredCheckpoint>& stored) {
    QString text;
    int64_t bytes = 0;
    int checkpoints = 0;
    bool isKnown = true;
    if (!folders)
        text = wordsOf(folders.error());
    for (const RunFolder& folder : folders.value_or(std::vector<RunFolder>())) {
        bytes += folder.bytes;
        checkpoints += folder.checkpoints;
        isKnown = isKnown && folder.problem.empty();
        text += (text.isEmpty() ? "" : "; ") + folderWords(folder);
    }
    if (folders)
        text = capitalized(text.toStdString()) + ". ";
    if (bytes > 0)
        text += tr("This is deleted for good; what the database has of the run stays.");
    if (checkpoints > 0)
        text += ' ' + tr("The run cannot go on from these checkpoints any more.");
    for (const std::string& left :
         leftWords(folders.value_or(std::vector<RunFolder>()), [](int64_t size) {
             return formatBytes(static_cast<double>(size)).toStdString();
         }))
        m_left << QString::fromStdString(left);
    if (!m_left.isEmpty())
        text += ' ' + tr("What stays is not found here again; remove by hand what nobody needs.");
    // Nothing may be left of a deletion whose answer was lost: then this notes what went with it.
    const bool isNoted = std::ranges::all_of(stored, &StoredCheckpoint::removed);
    const bool isClean = folders && bytes == 0 && isKnown && isNoted;
    if (isClean)
        text += tr("There is nothing to delete.");
    m_text->setText(text.trimmed());
    m_confirm->setVisible(!isClean);
    m_confirm->setEnabled(folders.has_value());
}

void CleanDialog::submit() {
    m_confirm->setEnabled(false);
    // The toast outlives this sheet, which a person may close meanwhile.
    Toast& toast = m_context.toast;
    whenAnswered(m_context.engine.ask(RemoveFromNodesRequest{m_run.id}), &toast,
                 [&toast, name = m_run.name, left = m_left](const Result<void>& removed) {
                     const QString gone = tr("The folders of %1 are gone from its nodes").arg(name);
                     toast.say(!removed         ? wordsOf(removed.error())
                               : left.isEmpty() ? gone
                                                : gone + tr(", but for: %1").arg(left.join("; ")));
                 });
    accept();
}

TrashDialog::TrashDialog(const AppContext& context, QWidget* parent)
    : Sheet(tr("Trash"),
            tr("Deleted runs stay here for %1 days. Restore brings one back as it was.")
                .arg(kTrashDays),
            "trashDialog", parent)
    , m_context(context)
    , m_rows(new QStandardItemModel(0, 3, this))
    , m_table(new Table("trashTable", tr("Deleted runs")))
    , m_empty(makeText(tr("The trash is empty."), "body")) {
    setWantedWidth(size::kTableDialogWidth);
    m_rows->setHorizontalHeaderLabels({tr("Name"), tr("State"), tr("Deleted")});
    m_table->setModel(m_rows);
    m_table->setColumnWidths({0, 150, 110});
    m_table->setRowsInSight(kTrashRows);
    m_empty->setObjectName("trashEmpty");
    content()->addWidget(m_table);
    content()->addWidget(m_empty);
    m_forget = addButton(tr("Empty trash"), "danger", "emptyTrash");
    m_restore = addButton(tr("Restore"), "primary", "restoreRun");
    connect(addButton(tr("Close"), "", "closeTrash"), &QPushButton::clicked, this,
            &QDialog::reject);
    connect(m_table, &Table::rowChosen, this, [this](int row) { m_restore->setEnabled(row >= 0); });
    connect(m_table, &Table::opened, this, &TrashDialog::restoreSelected);
    connect(m_restore, &QPushButton::clicked, this, &TrashDialog::restoreSelected);
    connect(m_forget, &QPushButton::clicked, this, &TrashDialog::askEmpty);
    connect(&context.runs, &RunsFeed::changed, this, &TrashDialog::refresh);
    refresh();
}

void TrashDialog::refresh() {
    std::vector<QString> shown;
    for (const RunSummary& run : m_context.runs.trash())
        shown.push_back(run.id + run.name + QString::number(run.deletedNs));
    if (m_shown && shown == *m_shown)
        return; // the feed tells of every run, many times a second
    m_shown = std::move(shown);
    const QString chosen = m_rows->index(m_table->currentRow(), 0).data(kIdRole).toString();
    m_rows->setRowCount(0);
    int chosenRow = 0;
    for (const RunSummary& run : m_context.runs.trash()) {
        const StateWords state = stateWords(run);
        const QStringList texts = {run.name, state.text,
                                   formatRelative(run.deletedNs, wallNowNs())};
        QList<QStandardItem*> row;
        for (const QString& text : texts) {
            row << new QStandardItem(text);
            row.back()->setEditable(false);
            row.back()->setData(run.id, kIdRole);
            row.back()->setToolTip(asPlain(text));
        }
        row[1]->setData(static_cast<int>(state.tone), kToneRole);
        row[2]->setToolTip(formatExact(run.deletedNs));
        if (run.id == chosen)
            chosenRow = m_rows->rowCount();
        m_rows->appendRow(row);
    }
    const bool any = m_rows->rowCount() > 0;
    m_table->setVisible(any);
    m_empty->setVisible(!any);
    m_forget->setEnabled(any);
    m_restore->setEnabled(any);
    if (any)
        m_table->selectRow(chosenRow);
}

void TrashDialog::restoreSelected() {
    const QString run = m_rows->index(m_table->currentRow(), 0).data(kIdRole).toString();
    whenAnswered(m_context.engine.ask(DeletedRequest{run, false}), this,
                 [this](const Result<void>& restored) {
                     if (!restored)
                         m_context.toast.say(wordsOf(restored.error()));
                 });
}

void TrashDialog::askEmpty() {
    const auto& trash = m_context.runs.trash();
    if (trash.empty())
        return;
    const QString runs = counted(static_cast<int64_t>(trash.size()), tr("1 run"), tr("%1 runs"));
    auto* sheet =
        new Sheet(tr("Forget %1 for good?").arg(runs),
                  tr("All their samples, logs and notes go, and nothing can bring them "
                     "back. What they have on their nodes stays there, and can be cleaned "
                     "only while they are known."),
                  "emptyTrashDialog", this);
    sheet->addCancel();
    QPushButton* forget = sheet->addButton(tr("Forget them"), "danger", "emptyTrashConfirm");
    connect(forget, &QPushButton::clicked, sheet, &QDialog::accept);
    // Not what is deleted while a person thinks about it.
    connect(forget, &QPushButton::clicked, this, [this, until = trash.front().deletedNs + 1] {
        whenAnswered(m_context.engine.ask(EmptyTrashRequest{until}), this,
                     [this](const Result<void>& done) {
                         if (!done)
                             m_context.toast.say(wordsOf(done.error()));
                     });
    });
    sheet->open();
}

} // namespace rm
