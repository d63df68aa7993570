// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/commands_dialog.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/runs/requested_words.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"
#include "shared/io/clock.h"

#include <QPushButton>
#include <QStandardItemModel>
#include <QVBoxLayout>

namespace rm {

namespace {
constexpr int kPullMs = 250;
constexpr int kCommandRows = 9; ///< in sight
} // namespace

CommandsDialog::CommandsDialog(const AppContext& context, const RunSummary& run, QWidget* parent)
    : Sheet(tr("Commands of %1").arg(run.name),
            tr("What was asked of it in windows and terminals, and by the rules of its spec."),
            "commandsDialog", parent)
    , m_context(context)
    , m_run(run.id)
    , m_puller(kPullMs, this)
    , m_rows(new QStandardItemModel(0, 4, this))
    , m_table(new Table("commandsTable", tr("Commands")))
    , m_empty(makeText(QString(), "body")) { // until it is known what was asked of it
    buildUi();
    connect(m_table, &Table::rowChosen, this, &CommandsDialog::showSelection);
    connect(m_withdraw, &QPushButton::clicked, this, [this] {
        if (const RequestedCommand* command = chosen())
            Q_EMIT withdrawRequested({*command});
    });
    connect(m_revert, &QPushButton::clicked, this, [this] {
        if (const RequestedCommand* command = chosen())
            Q_EMIT revertRequested(command->id);
    });
    connect(&context.engine, &Engine::runsChanged, &m_puller, &Puller::request);
    connect(&m_puller, &Puller::pull, this, &CommandsDialog::refresh);
    refresh();
}

void CommandsDialog::buildUi() {
    setWantedWidth(size::kTableDialogWidth);
    m_rows->setHorizontalHeaderLabels(
        {tr("Command"), tr("Asked"), tr("By"), tr("What became of it")});
    m_table->setModel(m_rows);
    m_table->setColumnWidths({150, 90, 150, 0});
    m_table->setRowsInSight(kCommandRows);
    m_table->hide();
    m_empty->setObjectName("commandsEmpty");
    content()->addWidget(m_table);
    content()->addWidget(m_empty);
    m_withdraw = addButton(tr("Withdraw"), "", "withdrawChosen");
    m_withdraw->setToolTip(tr("Take back what waits for a node"));
    m_withdraw->setEnabled(false);
    m_revert = addButton(tr("Take back…"), "", "revertChosen");
    m_revert->setToolTip(tr(
        "Set a setting back to what it was, or go back to the checkpoint from before the change"));
    m_revert->setEnabled(false);
    connect(addButton(tr("Close"), "", "closeCommands"), &QPushButton::clicked, this,
            &QDialog::reject);
}

void CommandsDialog::refresh() {
    const auto requested = m_context.store.ask(
        [run = m_run](StoreReader& reader) { return reader.requestedCommands(run); });
    m_puller.await(requested, this, [this](const std::vector<RequestedCommand>& commands) {
        showCommands(commands);
    });
}

void CommandsDialog::showCommands(const std::vector<RequestedCommand>& commands) {
    m_table->setVisible(!commands.empty());
    m_empty->setVisible(commands.empty());
    m_empty->setText(tr("Nothing was asked of it yet."));
    if (commands == m_commands)
        return; // the engine tells of every run, many times a second
    const RequestedCommand* before = chosen();
    const std::string chosenId = before ? before->id : std::string();
    m_commands = commands;
    m_rows->setRowCount(0);
    for (const RequestedCommand& each : m_commands) {
        const QStringList texts = {
            capitalized(requestedWords(each)), formatRelative(each.requestedNs, wallNowNs()),
            QString::fromStdString(requesterWords(each.by)), capitalized(fateWords(each))};
        QList<QStandardItem*> row;
        for (const QString& text : texts) {
            row << new QStandardItem(text);
            row.back()->setEditable(false);
            row.back()->setToolTip(asPlain(text));
        }
        row[1]->setToolTip(formatExact(each.requestedNs));
        m_rows->appendRow(row);
        if (each.id == chosenId)
            m_table->selectRow(m_rows->rowCount() - 1);
    }
    showSelection();
}

void CommandsDialog::showSelection() {
    const RequestedCommand* command = chosen();
    m_withdraw->setEnabled(command && command->state == RequestedState::kWaiting);
    m_revert->setEnabled(command && command->state == RequestedState::kApplied &&
                         command->kind == commandKindName(CommandKind::kSet));
}

const RequestedCommand* CommandsDialog::chosen() const {
    const int row = m_table->currentRow();
    return row >= 0 && row < static_cast<int>(m_commands.size())
               ? &m_commands[static_cast<size_t>(row)]
               : nullptr;
}

} // namespace rm
