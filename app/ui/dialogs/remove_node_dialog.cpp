// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/remove_node_dialog.h"

#include "app/core/answer.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/node_comparison.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"

#include <QCheckBox>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTimer>
#include <QVBoxLayout>

namespace rm {

namespace {

constexpr int kRowsInSight = 6;
constexpr int kPatienceMs = 3000; ///< with a node that does not answer, until that is said

QString bytesWords(int64_t bytes) {
    return formatBytes(static_cast<double>(bytes));
}

} // namespace

RemoveNodeDialog::RemoveNodeDialog(Engine& engine, Fleet& fleet, const Node& node, QWidget* parent)
    : Sheet(tr("Remove %1").arg(nodeTitle(node.name)),
            tr("Takes the machine off the list. What Ringmaster put there can go with it: agents, "
               "trainers and staged data, and its runs if you say so. Nothing else is touched."),
            "removeNodeDialog", parent)
    , m_engine(engine)
    , m_fleet(fleet)
    , m_node(node)
    , m_rows(new QStandardItemModel(0, 3, this))
    , m_table(new Table("removeNodeTable", tr("What Ringmaster put there")))
    , m_text(makeText({}, "bodySecondary"))
    , m_runs(new QCheckBox(tr("Also its runs with their checkpoints"))) {
    setWantedWidth(size::kTableDialogWidth);
    m_rows->setHorizontalHeaderLabels({tr("What"), tr("Size"), tr("What becomes of it")});
    m_table->setModel(m_rows);
    m_table->setColumnWidths({0, 80, 0});
    m_table->setRowsInSight(kRowsInSight);
    m_table->hide();
    m_text->setObjectName("removeNodeText");
    m_runs->setObjectName("removeNodeRuns");
    m_runs->setAccessibleName(m_runs->text());
    content()->addWidget(m_table);
    content()->addWidget(m_runs);
    content()->addWidget(m_text);
    m_fromNode = addButton(tr("Remove from node"), "danger", "removeFromNode");
    m_fromList = addButton(tr("Only off the list"), "", "removeFromList");
    m_cancel = addCancel();
    connect(m_runs, &QCheckBox::toggled, this, [this] { ask(true); });
    connect(m_fromNode, &QPushButton::clicked, this, [this] { ask(false); });
    connect(m_fromList, &QPushButton::clicked, this, [this] { forget(false); });
    ask(true);
}

void RemoveNodeDialog::ask(bool isPreview) {
    m_fromNode->setEnabled(false);
    setRemoving(!isPreview);
    m_text->setText(isPreview ? tr("Asking %1.").arg(nodeTitle(m_node.name))
                              : tr("Removing it there."));
    if (isPreview)
        QTimer::singleShot(kPatienceMs, this, [this, round = m_round + 1] {
            if (round == m_round && m_isAwaited)
                m_text->setText(tr("No answer of %1 yet. Without it, it can be taken off the list "
                                   "alone.")
                                    .arg(nodeTitle(m_node.name)));
        });
    m_isAwaited = true;
    const NodeCleaning cleaning{isPreview, false, true, m_runs->isChecked()};
    whenAnswered(m_engine.ask(CleanNodeRequest{QString::fromStdString(m_node.name), cleaning}),
                 this, [this, isPreview, round = ++m_round](const Result<DeployedReport>& report) {
                     if (round == m_round)
                         take(report, isPreview);
                 });
}

void RemoveNodeDialog::take(const Result<DeployedReport>& report, bool isPreview) {
    m_isAwaited = false;
    setRemoving(false);
    m_rows->setRowCount(0);
    m_table->hide();
    if (!report) {
        m_text->setText(capitalized(report.error().message) + '.');
        return;
    }
    if (!isPreview)
        return forget(true);
    showRows(*report);
    m_fromNode->setEnabled(report->inTheWay.empty());
    const int64_t goes = unneededBytes(*report);
    m_fromNode->setText(goes > 0 ? tr("Remove %1 from node").arg(bytesWords(goes))
                                 : tr("Remove from node"));
    m_text->setText(
        report->inTheWay.empty()
            ? tr("%1 can go, %2 stays.").arg(bytesWords(goes), bytesWords(neededBytes(*report))) +
                  otherRunsWords(*report) + sharedWords()
            : tr("In the way: %1.").arg(QString::fromStdString(report->inTheWay)));
}

QString RemoveNodeDialog::sharedWords() const {
    const auto sharers = sharersOf(m_node.name, m_fleet.lastChecks(), m_runs->isChecked());
    return sharers.empty() ? QString()
                           : ' ' + tr("What goes is gone for %1, too, by the same folder.")
                                       .arg(QString::fromStdString(someOf(sharers)));
}

QString RemoveNodeDialog::otherRunsWords(const DeployedReport& report) const {
    const auto runs = otherRunsThatGo(report, m_fleet.knownRuns());
    QStringList words;
    for (const std::string& run : runs)
        words << QString::fromStdString(run);
    return words.isEmpty() ? QString()
                           : ' ' + tr("Runs of another Ringmaster go, too, and cannot go on: %1.")
                                       .arg(words.join("; "));
}

void RemoveNodeDialog::setRemoving(bool isRemoving) {
    m_isRemoving = isRemoving;
    for (QWidget* control : std::initializer_list<QWidget*>{m_runs, m_fromList, m_cancel})
        control->setEnabled(!isRemoving);
}

void RemoveNodeDialog::reject() {
    if (!m_isRemoving)
        Sheet::reject();
}

void RemoveNodeDialog::showRows(const DeployedReport& report) {
    const KnownRuns known = m_fleet.knownRuns();
    for (const DeployedItem& item : report.items) {
        const bool goes = item.keptFor.empty();
        const std::string mark = otherRunMark(item, known);
        const std::string what = namedWord(item) + (item.kind == "other" ? " " + item.name : "") +
                                 (mark.empty() ? "" : ", " + mark);
        QList<QStandardItem*> row;
        for (const QString& text :
             {capitalized(what), bytesWords(item.bytes),
              goes ? tr("Is removed")
                   : tr("Stays: %1").arg(QString::fromStdString(item.keptFor))}) {
            row << new QStandardItem(text);
            row.back()->setEditable(false);
        }
        row[2]->setData(static_cast<int>(goes ? Tone::kWarn : Tone::kGood), kToneRole);
        m_rows->appendRow(row);
    }
    m_table->setVisible(m_rows->rowCount() > 0);
}

void RemoveNodeDialog::forget(bool isClean) {
    const auto removed = m_fleet.remove(QString::fromStdString(m_node.name));
    if (!removed) {
        m_text->setText(capitalized(removed.error().message) + '.');
        return;
    }
    Q_EMIT forgotten(*removed, isClean);
    accept();
}

} // namespace rm
