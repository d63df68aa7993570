// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/checkpoint_dialogs.h"

#include "app/core/answer.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/dialogs/placement_list.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/fitting_area.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"
#include "app/ui/widgets/toast.h"

#include <QComboBox>
#include <QDir>
#include <QLineEdit>
#include <QPushButton>
#include <QStandardItemModel>
#include <QVBoxLayout>

namespace rm {

ResumeDialog::ResumeDialog(const AppContext& context, const RunSummary& run,
                           const QString& checkpoint, const QString& from,
                           const std::vector<Placement>& nodes, QWidget* parent)
    : Sheet(tr("Resume %1 on which nodes?").arg(run.name),
            from + ' ' + tr("The checkpoint is copied to the first node if it does not lie there."),
            "resumeDialog", parent)
    , m_context(context)
    , m_run(run.id)
    , m_checkpoint(checkpoint)
    , m_nodes(new PlacementList(context))
    , m_changes(makeText({}, "bodySecondary")) {
    m_nodes->choose(nodes);
    m_changes->setObjectName("resumeChanges");
    content()->addWidget(new FittingArea(m_nodes, PlacementList::kHeightInSheet));
    content()->addWidget(m_changes);
    addCancel();
    m_confirm = addButton(tr("Resume"), "primary", "resumeConfirm");
    m_confirm->setDefault(true);
    wire();
    look();
}

void ResumeDialog::wire() {
    connect(m_nodes, &PlacementList::changed, this, &ResumeDialog::look);
    connect(m_confirm, &QPushButton::clicked, this, [this] {
        accept();
        Q_EMIT chosen(m_nodes->placements());
    });
}

/// Asks what these nodes would change; nothing is begun.
void ResumeDialog::look() {
    m_confirm->setEnabled(false);
    const int question = ++m_requests;
    if (m_nodes->placements().empty()) {
        m_changes->setText(tr("Choose at least one node."));
        return;
    }
    m_changes->setText(tr("Asking these nodes what would change"));
    whenAnswered(
        m_context.engine.ask(ResumePreflightRequest{m_run, m_checkpoint, m_nodes->placements()}),
        this, [this, question](const Result<ResumePreflight>& preflight) {
            if (question == m_requests)
                showAnswer(preflight);
        });
}

void ResumeDialog::showAnswer(const Result<ResumePreflight>& preflight) {
    m_confirm->setEnabled(preflight.has_value());
    m_changes->setText(preflight ? preflightWords(*preflight).join(' ')
                                 : QString::fromStdString(preflight.error().message));
}

CopyDialog::CopyDialog(const AppContext& context, const RunSummary& run,
                       const StoredCheckpoint& checkpoint, QWidget* parent)
    : Sheet(tr("Copy the checkpoint of step %1 to which place?")
                .arg(formatCount(checkpoint.saved.step)),
            tr("%1 of %2. Every byte is verified where it arrives.")
                .arg(formatBytes(static_cast<double>(checkpoint.saved.bytes)), run.name),
            "copyDialog", parent)
    , m_node(new QComboBox)
    , m_folder(new QLineEdit)
    , m_hint(makeText({}, "bodySecondary")) {
    m_node->setObjectName("copyNode");
    m_node->setAccessibleName(tr("Node that gets the copy"));
    for (const Node& node : context.fleet.nodes())
        if (node.name != checkpoint.node || node.name == kLocalNodeName)
            m_node->addItem(nodeTitle(node.name), QString::fromStdString(node.name));
    m_folder->setObjectName("copyFolder");
    m_folder->setAccessibleName(tr("Folder for the copy"));
    m_folder->setPlaceholderText(tr("A folder; empty: where the run's checkpoints lie there"));
    content()->addWidget(m_node);
    content()->addWidget(m_folder);
    content()->addWidget(m_hint);
    addCancel();
    m_confirm = addButton(tr("Copy"), "primary", "copyConfirm");
    m_confirm->setDefault(true);
    connect(m_node, &QComboBox::currentIndexChanged, this, &CopyDialog::offer);
    connect(m_folder, &QLineEdit::textChanged, this, &CopyDialog::offer);
    connect(m_confirm, &QPushButton::clicked, this, [this] {
        accept();
        Q_EMIT chosen({m_node->currentData().toString(), m_folder->text().trimmed(), {}});
    });
    offer();
}

void CopyDialog::offer() {
    const QString folder = m_folder->text().trimmed();
    const bool isPossible = folder.isEmpty() || QDir::isAbsolutePath(folder);
    m_confirm->setEnabled(isPossible && m_node->currentIndex() >= 0);
    m_hint->setText(!isPossible ? tr("Name the folder from the root: /home/...")
                    : folder.isEmpty()
                        ? tr("The run can then go on there, or from there if its node is lost.")
                        : tr("Ringmaster does not look there when the run goes on."));
}

namespace {
constexpr int kLayerRows = 10; ///< in sight
} // namespace

void bringBack(const AppContext& context, const QString& run, const QString& checkpoint) {
    Toast& toast = context.toast;
    RunsFeed& runs = context.runs;
    whenAnswered(context.engine.ask(BringBackCheckpointRequest{run, checkpoint}), &toast,
                 [&toast, &runs, checkpoint](const Result<void>& back) {
                     toast.say(back ? Sheet::tr("%1 is back").arg(checkpoint)
                                    : QString::fromStdString(back.error().message));
                     runs.refresh();
                 });
}

CompareDialog::CompareDialog(const AppContext& context, const QString& run,
                             const StoredCheckpoint& checkpoint,
                             const std::vector<StoredCheckpoint>& all, QWidget* parent)
    : Sheet(tr("Compare the weights of step %1").arg(formatCount(checkpoint.saved.step)), {},
            "compareDialog", parent)
    , m_context(context)
    , m_run(run)
    , m_checkpoint(QString::fromStdString(checkpointNameOf(checkpoint)))
    , m_other(new QComboBox)
    , m_summary(makeText({}, "bodySecondary"))
    , m_rows(new QStandardItemModel(0, 5, this))
    , m_table(new Table("compareTable", tr("Differences by layer"))) {
    setWantedWidth(size::kTableDialogWidth);
    m_other->setObjectName("compareWith");
    m_other->setAccessibleName(tr("Checkpoint to compare with"));
    for (const StoredCheckpoint& each : all)
        if (!each.removed && each.saved.path != checkpoint.saved.path)
            m_other->addItem(
                tr("with step %1, attempt %2").arg(formatCount(each.saved.step)).arg(each.attempt),
                QString::fromStdString(checkpointNameOf(each)));
    m_summary->setObjectName("compareSummary");
    m_rows->setHorizontalHeaderLabels(
        {tr("Layer"), tr("Norm"), tr("Norm of the other"), tr("Difference"), tr("Largest")});
    m_table->setModel(m_rows);
    m_table->setColumnWidths({0, 90, 150, 150, 90});
    m_table->setRowsInSight(kLayerRows);
    content()->addWidget(m_other);
    content()->addWidget(m_table);
    content()->addWidget(m_summary);
    connect(addButton(tr("Close"), "", "closeCompare"), &QPushButton::clicked, this,
            &QDialog::reject);
    connect(m_other, &QComboBox::currentIndexChanged, this, &CompareDialog::ask);
    ask();
}

void CompareDialog::ask() {
    const int question = ++m_requests;
    m_rows->setRowCount(0);
    m_summary->setText(tr("Its node is reading both"));
    whenAnswered(m_context.engine.ask(CompareCheckpointsRequest{m_run, m_checkpoint,
                                                                m_other->currentData().toString()}),
                 this, [this, question](const Result<TensorComparison>& comparison) {
                     if (question == m_requests)
                         showAnswer(comparison);
                 });
}

void CompareDialog::showAnswer(const Result<TensorComparison>& comparison) {
    if (!comparison)
        return m_summary->setText(QString::fromStdString(comparison.error().message));
    for (const LayerDifference& each : comparison->layers) {
        const double share = 100 * each.normOfDifference / each.normA;
        const QStringList texts = {
            QString::fromStdString(each.layer), formatFigure(each.normA), formatFigure(each.normB),
            tr("%1 (%2 %)").arg(formatFigure(each.normOfDifference)).arg(share, 0, 'f', 2),
            formatFigure(each.largest)};
        QList<QStandardItem*> row;
        for (const QString& text : texts) {
            row << new QStandardItem(text);
            row.back()->setEditable(false);
            row.back()->setToolTip(asPlain(text));
        }
        m_rows->appendRow(row);
    }
    const auto unlike =
        static_cast<int64_t>(comparison->onlyInA.size() + comparison->onlyInB.size());
    m_summary->setText(unlike == 0 ? tr("Both have the same tensors.")
                                   : counted(unlike, tr("1 tensor is in one of them alone."),
                                             tr("%1 tensors are in one of them alone.")));
}

} // namespace rm
