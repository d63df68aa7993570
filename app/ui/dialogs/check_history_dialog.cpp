// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/check_history_dialog.h"

#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"
#include "shared/io/clock.h"

#include <QStandardItemModel>
#include <QVBoxLayout>

namespace rm {

namespace {

constexpr int kChecksInSight = 10;

QString changesOf(const PastCheck& check) {
    QStringList changes;
    for (const std::string& change : check.changes)
        changes << QString::fromStdString(change);
    return changes.join("; ");
}

void addCheck(QStandardItemModel* rows, const PastCheck& check) {
    const QString problem = QString::fromStdString(check.problem), changes = changesOf(check);
    QList<QStandardItem*> row;
    for (const QString& text :
         {formatRelative(check.checkedNs, wallNowNs()),
          check.ready ? CheckHistoryDialog::tr("Ready") : CheckHistoryDialog::tr("Not ready"),
          problem.isEmpty() ? changes : problem + (changes.isEmpty() ? "" : "; " + changes)}) {
        row << new QStandardItem(text);
        row.back()->setEditable(false);
        row.back()->setToolTip(asPlain(text));
    }
    row[0]->setToolTip(formatExact(check.checkedNs));
    row[1]->setData(static_cast<int>(check.ready ? Tone::kGood : Tone::kBad), kToneRole);
    rows->appendRow(row);
}

} // namespace

CheckHistoryDialog::CheckHistoryDialog(const Fleet& fleet, const QString& node, QWidget* parent)
    : Sheet(tr("Checks of %1").arg(nodeTitle(node.toStdString())),
            tr("What the last checks found, and what had changed since the one before."),
            "checkHistoryDialog", parent) {
    setWantedWidth(size::kTableDialogWidth);
    auto* rows = new QStandardItemModel(0, 3, this);
    rows->setHorizontalHeaderLabels({tr("Checked"), tr("State"), tr("Problems and changes")});
    for (const PastCheck& check : fleet.history(node))
        addCheck(rows, check);
    auto* table = new Table("checkHistoryTable", tr("Checks of the node"));
    table->setModel(rows);
    table->setColumnWidths({124, 120, 0});
    table->setRowsInSight(kChecksInSight);
    content()->addWidget(table);
    if (rows->rowCount() == 0) {
        table->hide();
        content()->addWidget(makeText(tr("No check was kept yet."), "bodySecondary"));
    }
    connect(addButton(tr("Close"), "", "closeCheckHistory"), &QPushButton::clicked, this,
            &QDialog::reject);
}

} // namespace rm
