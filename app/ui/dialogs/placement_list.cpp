// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/placement_list.h"

#include "app/core/node/chosen_gpus.h"
#include "app/ui/data/node_words.h"
#include "app/ui/dialogs/node_connector.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/chip.h"
#include "app/ui/widgets/label.h"

#include <QApplication>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {
constexpr int kMostRanks = 64;
constexpr int kRanksWidth = 60;
constexpr int kBoxIndent = 26; ///< of a check box's text

/// Nothing typed is "auto", too.
class RanksBox : public QSpinBox {
protected:
    QValidator::State validate(QString& text, int& at) const override {
        return text.isEmpty() || text == specialValueText() ? QValidator::Acceptable
               : specialValueText().startsWith(text)        ? QValidator::Intermediate
                                                            : QSpinBox::validate(text, at);
    }
    int valueFromText(const QString& text) const override {
        return text.isEmpty() || text == specialValueText() ? minimum()
                                                            : QSpinBox::valueFromText(text);
    }
};

} // namespace

PlacementList::PlacementList(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_column(new QVBoxLayout(this)) {
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(2 * size::kGrid);
    connect(&m_context.fleet, &Fleet::nodesChanged, this, &PlacementList::rebuild);
    connect(&m_context.fleet, &Fleet::checkChanged, this, &PlacementList::refresh);
    connect(&m_context.connector, &NodeConnector::checkingChanged, this, &PlacementList::refresh);
    rebuild();
}

/// Keeps the chosen nodes that are not in the list any more.
void PlacementList::keepGone(const std::vector<Placement>& before) {
    for (const Placement& placement : before) {
        const auto was = std::ranges::find(m_nodes, placement.node.toStdString(), &Node::name);
        if (was != m_nodes.end() && !m_context.fleet.find(placement.node))
            m_gone.push_back({*was, placement});
    }
}

/// Another machine that gets the name of one that is gone is not chosen for that.
void PlacementList::takeBack(std::vector<Placement>& chosen) {
    std::erase_if(m_gone, [&](const Gone& gone) {
        const auto now = m_context.fleet.find(gone.placement.node);
        if (now == gone.node)
            chosen.push_back(gone.placement);
        return now.has_value();
    });
}

void PlacementList::rebuild() {
    std::vector<Placement> chosen = placements();
    keepGone(chosen);
    takeBack(chosen);
    m_nodes = m_context.fleet.nodes();
    const QWidget* focused = QApplication::focusWidget();
    const QString hadFocus = focused && isAncestorOf(focused) ? focused->objectName() : QString();
    if (!hadFocus.isEmpty())
        setFocus(); // a row that is hidden would pass it on, and the list scroll there
    while (QLayoutItem* item = m_column->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    m_rows.clear();
    addGroups();
    for (const Node& node : m_nodes)
        addRow(node);
    // The layout would do so one after another, and the list lose its height and place meanwhile.
    for (int at = 0; at < m_column->count(); ++at) {
        QWidget* row = m_column->itemAt(at)->widget();
        row->show();
        if (auto* same = hadFocus.isEmpty() ? nullptr : row->findChild<QWidget*>(hadFocus))
            same->setFocus();
    }
    choose(chosen.empty() ? std::vector<Placement>{{kLocalNodeName, 0}} : chosen);
}

void PlacementList::addGroups() {
    const std::vector<std::string> groups = groupsOf(m_context.fleet.nodes());
    if (groups.empty())
        return;
    auto* widget = new QWidget;
    auto* row = new QHBoxLayout(widget);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::kGrid);
    for (const std::string& group : groups) {
        const QString name = QString::fromStdString(group);
        auto* button = makeButton('@' + name, "quiet", ("group." + group).c_str());
        button->setAccessibleName(tr("Nodes of the group %1").arg(name));
        button->setToolTip(tr("Choose the nodes of this group, or none of them"));
        connect(button, &QPushButton::clicked, this, [this, group] { toggleGroup(group); });
        row->addWidget(button);
    }
    row->addStretch(1);
    m_column->addWidget(widget);
}

void PlacementList::toggleGroup(const std::string& group) {
    const bool wasUntouched = placements() == std::vector<Placement>{{kLocalNodeName, 0}};
    std::vector<QCheckBox*> boxes;
    for (const Row& row : m_rows) {
        const auto node = m_context.fleet.find(row.node);
        if (node && std::ranges::find(node->groups, group) != node->groups.end())
            boxes.push_back(row.box);
    }
    const bool areAll = std::ranges::all_of(boxes, [](QCheckBox* box) { return box->isChecked(); });
    for (QCheckBox* box : boxes)
        box->setChecked(!areAll);
    // Nobody has chosen this computer where it alone is ticked, as it is from the start.
    if (wasUntouched)
        for (const Row& row : m_rows)
            if (row.node == kLocalNodeName && std::ranges::count(boxes, row.box) == 0)
                row.box->setChecked(false);
}

void PlacementList::addRow(const Node& node) {
    auto* widget = new QWidget;
    auto* row = new QHBoxLayout(widget);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2 * size::kGrid);
    const QString title = nodeTitle(node.name);
    auto* box = new ElidedCheckBox(title);
    box->setObjectName("place." + QString::fromStdString(node.name));
    box->setAccessibleName(tr("Train on %1").arg(title));
    auto* chip = new Chip;
    auto* ranks = new RanksBox;
    ranks->setObjectName("ranks." + QString::fromStdString(node.name));
    ranks->setAccessibleName(tr("Ranks on %1").arg(title));
    ranks->setRange(0, kMostRanks);
    ranks->setSpecialValueText(tr("auto"));
    ranks->setFixedWidth(kRanksWidth);
    ranks->setToolTip(tr("Ranks on this node; auto (0, or nothing typed): as launch.ranks says, "
                         "else one per GPU, else one"));
    auto* facts = new ElidedLabel({}, "caption");
    facts->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    facts->setContentsMargins(kBoxIndent, 0, 0, 0);
    auto* texts = new QVBoxLayout;
    texts->setSpacing(0);
    texts->addWidget(box);
    texts->addWidget(facts);
    row->addLayout(texts, 1);
    row->addWidget(chip);
    row->addWidget(ranks);
    m_column->addWidget(widget);
    connect(box, &QCheckBox::toggled, ranks, &QWidget::setEnabled);
    connect(box, &QCheckBox::toggled, this, &PlacementList::changed);
    connect(ranks, &QSpinBox::valueChanged, this, &PlacementList::changed);
    ranks->setEnabled(false);
    m_rows.push_back({QString::fromStdString(node.name), box, ranks, facts, chip});
    refresh(m_rows.back().node);
}

/// The address of a node of which nothing else is known.
QString PlacementList::addressOf(const QString& name) const {
    const Node node = m_context.fleet.find(name).value_or(Node());
    return node.isLocal ? tr("not checked yet") : QString::fromStdString(node.sshHost);
}

void PlacementList::refresh(const QString& node) {
    for (const Row& row : m_rows)
        if (row.node == node)
            show(row);
    Q_EMIT changed();
}

void PlacementList::show(const Row& row) {
    const auto check = m_context.fleet.lastCheck(row.node);
    const StateWords words = checkWords(check, m_context.connector.isChecking(row.node));
    row.chip->show(words.text, words.tone);
    // Always a line, so that no row moves under the pointer when another one is checked.
    if (check && check->report)
        showFacts(row, *check->report);
    else
        row.facts->setFullText(addressOf(row.node));
}

void PlacementList::showFacts(const Row& row, const NodeReport& report) {
    const NodeReport used = usedPart(m_context.fleet.find(row.node).value_or(Node()), report);
    row.facts->setFullText(reportWords(used)[used.gpus.empty() ? 1 : 0]);
}

void PlacementList::showReport(const QString& node, const NodeReport* report) {
    const auto row = std::ranges::find(m_rows, node, &Row::node);
    if (row == m_rows.end() || m_context.fleet.lastCheck(node) ||
        m_context.connector.isChecking(node))
        return;
    if (!report)
        return show(*row);
    showFacts(*row, *report);
    row->chip->show(tr("Answers"), Tone::kNeutral);
}

std::vector<Placement> PlacementList::placements() const {
    std::vector<Placement> chosen;
    for (const Row& row : m_rows)
        if (row.box->isChecked())
            chosen.push_back({row.node, row.ranks->value()});
    return chosen;
}

void PlacementList::choose(const std::vector<Placement>& placements) {
    for (const Row& row : m_rows) {
        const auto wanted = std::ranges::find(placements, row.node, &Placement::node);
        row.box->setChecked(wanted != placements.end());
        row.ranks->setValue(wanted != placements.end() ? wanted->ranks : 0);
    }
    Q_EMIT changed();
}

} // namespace rm
