// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/clean_nodes_dialog.h"

#include "app/core/answer.h"
#include "app/core/findings/text.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"
#include "shared/io/clock.h"

#include <QCheckBox>
#include <QStandardItemModel>
#include <QVBoxLayout>

namespace rm {

namespace {

constexpr int kCleanRows = 7; ///< in sight
constexpr int kNodeWidth = 112;

QString sizeWords(int64_t bytes) {
    return formatBytes(static_cast<double>(bytes));
}

QString sharedWords(const CleanedNode& node) {
    QStringList names{nodeTitle(node.node)};
    for (const std::string& sharer : node.sharers)
        names << nodeTitle(sharer);
    return CleanNodesDialog::tr("%1 share one folder, which counts once.").arg(names.join(", "));
}

} // namespace

CleanNodesDialog::CleanNodesDialog(const AppContext& context, QWidget* parent)
    : Sheet(tr("Clean up nodes"),
            tr("Trainers, agents and staged data that no run on a node needs any more. What a "
               "later launch needs is sent again."),
            "cleanNodesDialog", parent)
    , m_context(context)
    , m_rows(new QStandardItemModel(0, 4, this))
    , m_table(new Table("cleanNodesTable", tr("What was deployed to the nodes")))
    , m_text(makeText({}, "bodySecondary"))
    , m_recent(new QCheckBox(tr("Also what was used within the last day"))) {
    setWantedWidth(size::kTableDialogWidth);
    m_rows->setHorizontalHeaderLabels({tr("Node"), tr("What"), tr("Size"), tr("Stays for")});
    m_table->setModel(m_rows);
    m_table->setColumnWidths({kNodeWidth, 0, 80, 0});
    m_table->setTextElideMode(Qt::ElideMiddle); // runs are told apart by how their ids end
    m_table->setRowsInSight(kCleanRows);
    m_text->setObjectName("cleanNodesText");
    m_recent->setObjectName("cleanRecent");
    m_recent->setAccessibleName(m_recent->text());
    content()->addWidget(m_table);
    content()->addWidget(m_recent);
    content()->addWidget(m_text);
    m_confirm = addButton(tr("Remove"), "danger", "cleanNodesConfirm");
    connect(addButton(tr("Close"), "", "closeCleanNodes"), &QPushButton::clicked, this,
            &QDialog::reject);
    connect(m_recent, &QCheckBox::toggled, this, [this] { ask(true); });
    connect(m_confirm, &QPushButton::clicked, this, [this] { ask(false); });
    ask(true);
}

void CleanNodesDialog::ask(bool isPreview) {
    ++m_round;
    m_isRemoved = !isPreview;
    QStringList others; // whose folder is cleaned once, for another node
    for (const CleanedNode& node : answered())
        if (!isPreview && !node.reportedBy.empty())
            others << QString::fromStdString(node.node);
    m_answers.clear();
    for (const Node& node : m_context.fleet.nodes())
        if (const QString name = QString::fromStdString(node.name); !others.contains(name))
            m_answers[name] = std::nullopt;
    for (const auto& [node, answer] : m_answers)
        whenAnswered(
            m_context.engine.ask(CleanNodeRequest{node, {isPreview, m_recent->isChecked()}}), this,
            [this, node = node, round = m_round](const Result<DeployedReport>& report) {
                if (round == m_round)
                    take(node, report);
            });
    showAnswers();
}

void CleanNodesDialog::take(const QString& node, const Result<DeployedReport>& report) {
    m_answers[node] = report;
    showAnswers();
}

std::vector<CleanedNode> CleanNodesDialog::answered() const {
    std::vector<CleanedNode> nodes;
    for (const auto& [node, answer] : m_answers)
        if (answer)
            nodes.push_back({node.toStdString(), *answer});
    reportSharedOnce(nodes);
    return nodes;
}

void CleanNodesDialog::showAnswers() {
    m_rows->setRowCount(0);
    int64_t unneeded = 0, needed = 0;
    QStringList problems, disks;
    std::vector<std::string> silent;
    for (const auto& [node, answer] : m_answers)
        if (!answer)
            silent.push_back(nodeTitle(node.toStdString()).toStdString());
    if (!m_isRemoved)
        m_shared.clear();
    for (const CleanedNode& node : answered()) {
        if (!node.report) {
            problems << QString::fromStdString(node.report.error().message);
            continue;
        }
        if (!m_isRemoved && !node.sharers.empty() && node.reportedBy.empty())
            m_shared << sharedWords(node);
        unneeded += unneededBytes(*node.report);
        needed += neededBytes(*node.report);
        addRows(QString::fromStdString(node.node), *node.report);
        if (const auto kinds = diskByKind(
                *node.report, [](int64_t bytes) { return sizeWords(bytes).toStdString(); });
            !kinds.empty())
            disks << tr("%1: %2").arg(nodeTitle(node.node), QString::fromStdString(kinds));
    }
    const bool isAny = m_rows->rowCount() > 0;
    m_table->setVisible(isAny);
    QStringList sentences;
    if (!isAny && silent.empty() && problems.isEmpty())
        sentences << tr("Nothing is deployed there.");
    else if (isAny)
        sentences << (m_isRemoved ? tr("%1 removed, %2 stays.") : tr("%1 can go, %2 stays."))
                         .arg(sizeWords(unneeded), sizeWords(needed));
    sentences << m_shared << disks;
    if (!silent.empty())
        sentences << tr("Asking %1.").arg(QString::fromStdString(someOf(silent)));
    for (const QString& problem : problems)
        sentences << capitalized(problem.toStdString()) + '.';
    m_text->setText(sentences.join('\n'));
    m_confirm->setEnabled(!m_isRemoved && silent.empty() && unneeded > 0);
    m_confirm->setText(unneeded > 0 && !m_isRemoved ? tr("Remove %1").arg(sizeWords(unneeded))
                                                    : tr("Remove"));
}

void CleanNodesDialog::addRows(const QString& node, const DeployedReport& report) {
    for (const DeployedItem& item : report.items) {
        const bool goes = item.keptFor.empty();
        const QString why = !goes         ? capitalized(item.keptFor)
                            : m_isRemoved ? tr("Removed")
                                          : tr("Nothing");
        QList<QStandardItem*> row;
        for (const QString& text : {nodeTitle(node.toStdString()), capitalized(namedWord(item)),
                                    sizeWords(item.bytes), why}) {
            row << new QStandardItem(text);
            row.back()->setEditable(false);
            row.back()->setToolTip(
                tr("Last used %1").arg(formatRelative(item.usedNs, wallNowNs())));
        }
        row[3]->setData(static_cast<int>(goes ? Tone::kWarn : Tone::kGood), kToneRole);
        m_rows->appendRow(row);
    }
}

} // namespace rm
