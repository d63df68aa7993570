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
    , m_nodes(std::make_shared<const std::vector<Node>>(fleet.nodes()))
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
    connect(m_rows, &QStandardItemModel::itemChanged, this,
            [this](QStandardItem* item) { onItemChanged(*item); });
    connect(m_confirm, &QPushButton::clicked, this, &ImportNodesDialog::submit);
    m_pool.setMaxThreadCount(sshOffersAtOnce());
    whenAnswered(QtConcurrent::run(&m_pool, &sshAliases), this,
                 [this](const std::vector<std::string>& names) { showNames(names); });
}

ImportNodesDialog::~ImportNodesDialog() {
    m_pool.clear(); // what is being read is waited for
}

void ImportNodesDialog::showNames(const std::vector<std::string>& names) {
    m_names = names;
    m_offers.assign(names.size(), std::nullopt);
    for (const std::string& name : names) {
        QList<QStandardItem*> row;
        for (int column = 0; column < m_rows->columnCount(); ++column) {
            row << new QStandardItem(column == 0 ? QString::fromStdString(name) : QString());
            row.back()->setEditable(false);
        }
        row.front()->setCheckable(true);
        row.front()->setCheckState(Qt::Unchecked);
        m_rows->appendRow(row);
    }
    m_table->setVisible(!names.empty());
    if (!names.empty()) { // so that Space ticks it
        m_table->setCurrentIndex(m_rows->index(0, 0));
        m_table->setFocus();
    }
    refresh();
    whenAnswered(QtConcurrent::run(&m_pool, &routesTo, *m_nodes), this,
                 [this](const Routes& routes) {
                     m_routes = std::make_shared<const Routes>(routes);
                     readOffers();
                 });
}

void ImportNodesDialog::readOffers() {
    for (int row = 0; row < m_rows->rowCount(); ++row)
        readOffer(row, isChosen(row));
}

/// `isFirst`: before the others, as somebody waits for it.
void ImportNodesDialog::readOffer(int row, bool isFirst) {
    auto read = [name = m_names[static_cast<size_t>(row)], nodes = m_nodes, routes = m_routes] {
        return sshOffer(name, *nodes, *routes);
    };
    whenAnswered(QtConcurrent::task(std::move(read))
                     .onThreadPool(m_pool)
                     .withPriority(isFirst ? 1 : 0)
                     .spawn(),
                 this, [this, row](const SshOffer& offer) { showOffer(row, offer); });
}

void ImportNodesDialog::showOffer(int row, const SshOffer& offer) {
    auto& known = m_offers[static_cast<size_t>(row)];
    if (known) // it was read twice, as somebody ticked it
        return;
    known = offer;
    const QStringList texts = {goalOf(offer), QString::fromStdString(offer.passes), keyName(offer),
                               stateOf(offer)};
    for (int column = 0; column < texts.size(); ++column)
        m_rows->item(row, column + 1)->setText(texts[column]);
    QStandardItem* name = m_rows->item(row);
    if (!canBeAdded(offer)) {
        name->setCheckState(Qt::Unchecked);
        name->setCheckable(false);
        name->setEnabled(false);
    }
    refresh();
}

void ImportNodesDialog::onItemChanged(const QStandardItem& item) {
    if (item.column() != 0)
        return;
    if (m_routes && isChosen(item.row()) && !m_offers[static_cast<size_t>(item.row())])
        readOffer(item.row(), true);
    refresh();
}

bool ImportNodesDialog::isChosen(int row) const {
    return m_rows->item(row)->checkState() == Qt::Checked;
}

/// Those of which is known where they lead.
std::vector<Node> ImportNodesDialog::chosen() const {
    std::vector<Node> nodes;
    for (int row = 0; row < m_rows->rowCount(); ++row)
        if (const auto& offer = m_offers[static_cast<size_t>(row)]; offer && isChosen(row))
            nodes.push_back(offer->node);
    return nodes;
}

void ImportNodesDialog::refresh() {
    int64_t ticked = 0;
    for (int row = 0; row < m_rows->rowCount(); ++row)
        ticked += isChosen(row) ? 1 : 0;
    const bool isRead = static_cast<int64_t>(chosen().size()) == ticked;
    m_confirm->setEnabled(ticked > 0 && isRead);
    m_confirm->setText(
        ticked == 0 ? tr("Add and check")
                    : counted(ticked, tr("Add and check 1 node"), tr("Add and check %1 nodes")));
    const auto read = std::ranges::count_if(
        m_offers, [](const std::optional<SshOffer>& offer) { return offer.has_value(); });
    QString words = tr("Tick what is to be added. It is checked at once.");
    if (m_names.empty())
        words = tr("~/.ssh/config has no names. Add node takes an address.");
    else if (read < std::ssize(m_offers))
        words += ' ' + tr("Where the names lead is being read: %1 of %2.")
                           .arg(formatCount(read), formatCount(std::ssize(m_offers)));
    m_text->setText(words);
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
