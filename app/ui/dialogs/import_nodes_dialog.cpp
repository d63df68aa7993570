// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/import_nodes_dialog.h"

#include "app/core/answer.h"
#include "app/core/fleet/ssh_aliases.h"
#include "app/core/node/ssh_address.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"

#include <QStandardItemModel>
#include <QVBoxLayout>
#include <QtConcurrent>

#include <algorithm>

namespace rm {

namespace {

constexpr int kOffersInSight = 8;

bool canBeAdded(const SshOffer& offer) {
    return offer.known.empty() && offer.problem.empty();
}

QString stateOf(const SshOffer& offer) {
    if (!offer.known.empty())
        return ImportNodesDialog::tr("is %1 already").arg(QString::fromStdString(offer.known));
    // The row says what was tried, and with which name.
    const QString problem = QString::fromStdString(offer.problem);
    return problem.contains(": ") ? problem.section(": ", 1) : problem;
}

/// Empty: nobody knows.
QString goalOf(const SshOffer& offer) {
    const SshAddress goal{offer.route.user, offer.route.host, offer.route.port};
    return goal.host.empty() ? QString() : QString::fromStdString(toText(goal));
}

QString keyName(const SshOffer& offer) {
    return QString::fromStdString(offer.route.keyFile).section('/', -1);
}

} // namespace

ImportNodesDialog::ImportNodesDialog(Fleet& fleet, QWidget* parent)
    : Sheet(tr("Import nodes"),
            tr("The names of ~/.ssh/config and where they lead. Settings in that file keep "
               "applying."),
            "importNodesDialog", parent)
    , m_fleet(fleet)
    , m_rows(new QStandardItemModel(0, 5, this))
    , m_table(new Table("importNodesTable", tr("Names in ssh config")))
    , m_text(makeText(tr("Reading ~/.ssh/config…"), "bodySecondary")) {
    setWantedWidth(size::kTableDialogWidth);
    m_rows->setHorizontalHeaderLabels(
        {tr("Name"), tr("Leads to"), tr("Through"), tr("Key"), tr("In the list")});
    m_table->setModel(m_rows);
    m_table->setColumnWidths({0, 0, 120, 96, 0});
    m_table->setRowsInSight(kOffersInSight);
    m_text->setObjectName("importNodesText");
    content()->addWidget(m_table);
    content()->addWidget(m_text);
    addCancel();
    m_confirm = addButton(tr("Add"), "primary", "importNodesConfirm");
    m_confirm->setDefault(true);
    m_confirm->setEnabled(false);
    connect(m_rows, &QStandardItemModel::itemChanged, this, &ImportNodesDialog::refresh);
    connect(m_confirm, &QPushButton::clicked, this, &ImportNodesDialog::submit);
    whenAnswered(
        QtConcurrent::run([nodes = fleet.nodes()] { return sshOffers(nodes, sshAliases()); }), this,
        [this](const std::vector<SshOffer>& offers) { show(offers); });
}

void ImportNodesDialog::show(const std::vector<SshOffer>& offers) {
    m_offers = offers;
    for (const SshOffer& offer : m_offers)
        addOffer(offer);
    m_table->setVisible(!m_offers.empty());
    const auto first = std::ranges::find_if(m_offers, &canBeAdded);
    if (first != m_offers.end()) { // so that Space ticks it
        m_table->setCurrentIndex(m_rows->index(static_cast<int>(first - m_offers.begin()), 0));
        m_table->setFocus();
    }
    refresh();
}

void ImportNodesDialog::addOffer(const SshOffer& offer) {
    const QStringList texts = {QString::fromStdString(offer.node.sshHost), goalOf(offer),
                               QString::fromStdString(offer.passes), keyName(offer),
                               stateOf(offer)};
    QList<QStandardItem*> row;
    for (const QString& text : texts) {
        row << new QStandardItem(text);
        row.back()->setEditable(false);
    }
    row.front()->setCheckable(canBeAdded(offer));
    row.front()->setEnabled(canBeAdded(offer));
    if (canBeAdded(offer))
        row.front()->setCheckState(Qt::Unchecked);
    m_rows->appendRow(row);
}

std::vector<Node> ImportNodesDialog::chosen() const {
    std::vector<Node> nodes;
    for (int row = 0; row < m_rows->rowCount(); ++row)
        if (m_rows->item(row)->checkState() == Qt::Checked)
            nodes.push_back(m_offers[static_cast<size_t>(row)].node);
    return nodes;
}

void ImportNodesDialog::refresh() {
    const auto count = static_cast<int64_t>(chosen().size());
    m_confirm->setEnabled(count > 0);
    m_confirm->setText(
        count == 0 ? tr("Add and check")
                   : counted(count, tr("Add and check 1 node"), tr("Add and check %1 nodes")));
    m_text->setText(m_offers.empty() ? tr("~/.ssh/config has no names. Add node takes an address.")
                                     : tr("Tick what is to be added. It is checked at once."));
}

void ImportNodesDialog::submit() {
    const std::vector<Node> nodes = chosen();
    if (const auto added = m_fleet.addAll(nodes); !added) {
        m_text->setText(QString::fromStdString(added.error().message));
        return;
    }
    QStringList names;
    for (const Node& node : nodes)
        names << QString::fromStdString(node.name);
    Q_EMIT imported(names);
    accept();
}

} // namespace rm
