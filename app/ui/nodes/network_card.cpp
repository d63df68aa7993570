// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/nodes/network_card.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/fleet/fleet.h"
#include "app/core/network/network_file.h"
#include "app/core/network/network_words.h"
#include "app/core/settings/paths.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"
#include "app/ui/widgets/chip.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"
#include "shared/io/clock.h"

#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QStandardItemModel>
#include <QVBoxLayout>
#include <QtConcurrent>

#include <algorithm>

namespace rm {

namespace {

constexpr int kMostRows = 8; ///< beyond that the table scrolls
constexpr int kNameColumn = 150, kNameColumnMost = 260;
constexpr int kCellColumn = 136;

Tone toneOfWay(Way way) {
    switch (way) {
    case Way::kWorks:
        return Tone::kGood;
    case Way::kSomePorts:
    case Way::kLosesLarge:
        return Tone::kWarn;
    case Way::kBlocked:
        return Tone::kBad;
    case Way::kUnknown:
        break;
    }
    return Tone::kNeutral;
}

QString nodeAt(const NetworkMatrix& matrix, int index) {
    return nodeTitle(matrix.nodes[static_cast<size_t>(index)].name);
}

QStandardItem* makeCell(const NetworkWays& ways, int from, int to) {
    const NetworkMatrix& matrix = ways.matrix();
    auto* item = new QStandardItem;
    item->setEditable(false);
    const auto way = from == to ? std::nullopt : ways.best(from, to);
    if (!way) {
        item->setText(kAbsent);
        item->setToolTip(from == to ? QString() : NetworkCard::tr("Not measured"));
        return item;
    }
    QString word = QString::fromStdString(cellWords(*way));
    if (way->way == Way::kWorks)
        word = QString::fromStdString(way->at.name) + ' ' + word;
    item->setText(word);
    item->setData(static_cast<int>(toneOfWay(way->way)), kToneRole);
    QStringList all;
    for (const WayThere& each : ways.between(from, to))
        all << QString::fromStdString(wayInWords(each));
    item->setToolTip(asPlain(all.join('\n')));
    item->setData(
        NetworkCard::tr("from %1 to %2: %3").arg(nodeAt(matrix, from), nodeAt(matrix, to), word),
        Qt::AccessibleTextRole);
    return item;
}

QStringList membersOf(const std::vector<Node>& nodes, const std::string& group) {
    QStringList names;
    for (const Node& node : nodes)
        if (std::ranges::count(node.groups, group) > 0)
            names << QString::fromStdString(node.name);
    return names;
}

QStringList namesOf(const std::vector<Node>& nodes) {
    QStringList names;
    for (const Node& node : nodes)
        names << QString::fromStdString(node.name);
    return names;
}

QString notMeasured() {
    return NetworkCard::tr("Not measured yet. Every node opens a few ports for some seconds, and "
                           "all dial each other: this shows which interface runs between them will "
                           "use, and where a firewall stands in the way.");
}

QString sentencesOf(const NetworkMatrix& matrix) {
    QStringList all;
    for (const std::string& sentence : networkSentences(networkFindings(matrix)))
        all << QString::fromStdString(sentence);
    return all.join('\n');
}

} // namespace

NetworkCard::NetworkCard(const AppContext& context, QWidget* parent)
    : Card(parent)
    , m_context(context)
    , m_age(makeLabel({}, "secondary"))
    , m_which(new QComboBox)
    , m_measure(makeButton(tr("Measure"), "quiet", "measureNetwork"))
    , m_cancel(makeButton(tr("Cancel"), "quiet", "cancelNetwork"))
    , m_cells(new QStandardItemModel(this))
    , m_table(new Table("networkTable", tr("Which node reaches which, from row to column")))
    , m_text(makeText({}, "bodySecondary"))
    , m_problem(makeText({}, "bodySecondary")) {
    buildUi();
    wire();
    showMeasuring(false);
    offerGroups();
    if (!isWorthMeasuring())
        hide();
}

void NetworkCard::buildUi() {
    keepWidth(*m_cancel, {tr("Cancel"), tr("Cancelling")});
    setObjectName("networkCard");
    body()->setContentsMargins(16, 10, 16, 14);
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("Network"), "cardTitle"));
    head->addStretch(1);
    head->addWidget(m_age);
    m_which->setObjectName("networkWhich");
    m_which->setAccessibleName(tr("Nodes to measure between"));
    head->addWidget(m_which);
    head->addWidget(m_measure);
    head->addWidget(m_cancel);
    body()->addLayout(head);
    m_table->setModel(m_cells);
    m_table->hide();
    m_text->setObjectName("networkText");
    m_problem->setObjectName("networkProblem");
    body()->addWidget(m_table);
    body()->addWidget(m_text);
    body()->addWidget(m_problem);
    m_text->setText(notMeasured());
}

void NetworkCard::wire() {
    connect(m_measure, &QPushButton::clicked, this, &NetworkCard::measure);
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        m_cancel->setText(tr("Cancelling")); // not disabled, as the focus would go elsewhere
        (void)m_context.engine.ask(StopNetworkRequest{});
    });
    connect(&m_context.engine, &Engine::progressed, this,
            [this](const QString& id, const Progress& progress) {
                if (m_measuring > 0 && id == kNetworkMeasurement)
                    m_problem->setText(tr("Measuring between %1 nodes. %2.")
                                           .arg(m_measuring)
                                           .arg(progressWords(progress)));
            });
    connect(&m_context.fleet, &Fleet::nodesChanged, this, [this] {
        setVisible(isWorthMeasuring());
        offerGroups();
        draw();
    });
}

bool NetworkCard::isWorthMeasuring() const {
    return measuredNodes(m_context.fleet.nodes()).size() > 1;
}

/// Each with the names of its nodes, which are two or more.
void NetworkCard::offerGroups() {
    const QString before = m_which->currentText();
    const std::vector<Node> nodes = m_context.fleet.nodes();
    const std::vector<Node> measured = measuredNodes(nodes);
    m_which->clear();
    m_which->addItem(tr("All nodes"), namesOf(measured));
    if (std::ranges::none_of(measured, &isThisComputer)) {
        m_which->setItemText(0, tr("All other nodes"));
        m_which->addItem(tr("This computer, too"), namesOf(measured) << kLocalNodeName);
    }
    for (const std::string& group : groupsOf(nodes))
        if (const QStringList members = membersOf(nodes, group); members.size() > 1)
            m_which->addItem(QString::fromStdString('@' + group), members);
    m_which->setCurrentIndex(std::max(0, m_which->findText(before)));
    m_which->setVisible(m_which->count() > 1);
}

void NetworkCard::measure() {
    const QStringList names = m_which->currentData().toStringList();
    m_measuring = names.size();
    showMeasuring(true);
    m_problem->setText(tr("Measuring between %1 nodes, some ten seconds and as long as their "
                          "logins take.")
                           .arg(names.size()));
    whenFinished(m_context.engine.ask(MeasureNetworkRequest{names}), this,
                 [this](const QFuture<Result<void>>& finished) {
                     onMeasured(finished.resultCount() > 0
                                    ? finished.result()
                                    : fail(ErrorCode::kUnavailable, "measure the network: closed"));
                 });
}

void NetworkCard::onMeasured(const Result<void>& answer) {
    m_measuring = 0;
    showMeasuring(false);
    m_problem->setText(answer ? QString() : QString::fromStdString(answer.error().message));
    m_problem->setVisible(!answer);
    refresh();
}

void NetworkCard::showMeasuring(bool isMeasuring) {
    m_which->setEnabled(!isMeasuring);
    m_cancel->setText(tr("Cancel"));
    showInsteadOf(isMeasuring ? m_cancel : m_measure, isMeasuring ? m_measure : m_cancel);
    m_problem->setVisible(isMeasuring);
}

void NetworkCard::showEvent(QShowEvent* event) {
    Card::showEvent(event);
    refresh();
}

void NetworkCard::refresh() {
    const QFileInfo file(QString::fromStdString(networkPath(m_context.paths.state.toStdString())));
    if (isVisible() && file.lastModified() != m_readOf) {
        m_readOf = file.lastModified();
        readKept();
    }
    if (m_shown.measuredNs != 0)
        m_age->setText(formatRelative(m_shown.measuredNs, wallNowNs()));
}

void NetworkCard::readKept() {
    const auto read = QtConcurrent::run(
        [folder = m_context.paths.state.toStdString()] { return keptNetwork(folder); });
    whenAnswered(read, this, [this](const Result<NetworkMatrix>& kept) {
        if (kept)
            show(*kept);
        else if (kept.error().code != ErrorCode::kNotFound)
            showProblem(kept.error());
    });
}

void NetworkCard::show(const NetworkMatrix& matrix) {
    if (m_kept.measuredNs != 0 && m_kept.measuredNs != matrix.measuredNs)
        m_problem->hide(); // which was of an older one
    m_kept = matrix;
    if (m_shown.nodes.empty())
        m_text->setText(notMeasured()); // where it told why an older file could not be read
    draw();
}

/// Shows a problem of the file itself: what the file held is not known any more.
void NetworkCard::showProblem(const Error& error) {
    show(NetworkMatrix());
    m_text->setText(QString::fromStdString(error.message));
}

void NetworkCard::draw() {
    const auto isThere = [this](const std::string& name) {
        return m_context.fleet.find(QString::fromStdString(name)).has_value();
    };
    NetworkMatrix found = measuredBetween(m_kept, isThere).value_or(NetworkMatrix());
    if (found == m_shown)
        return; // a table of many nodes takes a while
    m_shown = std::move(found);
    const bool isMeasured = !m_shown.nodes.empty();
    m_age->setText(isMeasured ? formatRelative(m_shown.measuredNs, wallNowNs()) : QString());
    m_age->setToolTip(isMeasured ? formatExact(m_shown.measuredNs) : QString());
    m_measure->setText(isMeasured ? tr("Measure again") : tr("Measure"));
    m_text->setText(isMeasured ? sentencesOf(m_shown) : notMeasured());
    fillTable(m_shown);
}

void NetworkCard::fillTable(const NetworkMatrix& matrix) {
    const int count = static_cast<int>(matrix.nodes.size());
    const NetworkWays ways(matrix);
    m_cells->clear();
    QStringList titles{tr("From")};
    for (int to = 0; to < count; ++to)
        titles << tr("to %1").arg(nodeAt(matrix, to));
    for (int from = 0; from < count; ++from) {
        auto* name = new QStandardItem(nodeAt(matrix, from));
        name->setEditable(false);
        QList<QStandardItem*> row{name};
        for (int to = 0; to < count; ++to)
            row << makeCell(ways, from, to);
        m_cells->appendRow(row);
    }
    m_cells->setHorizontalHeaderLabels(titles);
    for (int column = 0; column <= count; ++column) {
        m_cells->setHeaderData(column, Qt::Horizontal, asPlain(titles[column]), Qt::ToolTipRole);
        m_table->setColumnWidth(column, kCellColumn);
    }
    m_table->resizeColumnToContents(0);
    m_table->setColumnWidth(0, std::clamp(m_table->columnWidth(0), kNameColumn, kNameColumnMost));
    m_table->setFixedHeight((std::min(count, kMostRows) + 1) * size::kRowHeight + 4 * size::kGrid);
    m_table->setVisible(count > 1);
}

} // namespace rm
