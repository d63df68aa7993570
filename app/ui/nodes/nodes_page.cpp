// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/nodes/nodes_page.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/findings/text.h"
#include "app/ui/data/node_words.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/dialogs/check_history_dialog.h"
#include "app/ui/dialogs/clean_nodes_dialog.h"
#include "app/ui/dialogs/end_leftovers_dialog.h"
#include "app/ui/dialogs/import_nodes_dialog.h"
#include "app/ui/dialogs/link_test_dialog.h"
#include "app/ui/dialogs/node_connector.h"
#include "app/ui/dialogs/node_dialog.h"
#include "app/ui/dialogs/remove_node_dialog.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/nodes/check_row_view.h"
#include "app/ui/nodes/differences_card.h"
#include "app/ui/nodes/network_card.h"
#include "app/ui/nodes/node_card.h"
#include "app/ui/widgets/banner.h"
#include "app/ui/widgets/capped_area.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/reflow_grid.h"
#include "app/ui/widgets/toast.h"
#include "shared/io/clock.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace rm {

namespace {

constexpr int kAgeMs = 5000;

/// "connects", while this process makes the check.
QString progressWords(const Fleet& fleet, const QString& name) {
    const auto stage = fleet.stageOf(name);
    if (!stage || *stage == CheckStage::kConnect)
        return NodesPage::tr("Connecting…");
    return *stage == CheckStage::kSendAgent
               ? NodesPage::tr("Connected; sending the agent if it is not there…")
               : NodesPage::tr("Looking at system, memory, disks, network, GPUs and runs…");
}

/// "13 of 14 passed · 5 min ago".
QString summaryOf(const NodeCheck& check) {
    const std::vector<CheckRow> rows = checkRows(check);
    const auto good = std::ranges::count(rows, CheckRow::State::kGood, &CheckRow::state);
    return NodesPage::tr("%1 of %2 passed").arg(good).arg(rows.size()) + kSeparator +
           formatRelative(check.checkedNs, wallNowNs());
}

/// "node-a: all 6 proofs held", or the first that failed.
QString selfTestWords(const QString& node, const Result<QString>& answer) {
    // It has the same key as a node's report.
    const auto report =
        answer.and_then([](const QString& json) { return parseNodeReport(json.toStdString()); });
    if (!report)
        return capitalized(report.error().message);
    qsizetype held = 0;
    for (const SelfTest& test : report->selfTests)
        for (const SelfTestProof& proof : test.proofs) {
            if (!proof.held)
                return NodesPage::tr("%1 failed in %2: %3")
                    .arg(node, QString::fromStdString(proof.name),
                         QString::fromStdString(proof.evidence));
            ++held;
        }
    return NodesPage::tr("%1: all %2 proofs held").arg(node).arg(held);
}

/// "node-a: agent 0.0.9 removed", or why one stays.
QString removedWords(const QString& node, const Result<DeployedReport>& report) {
    if (!report)
        return capitalized(report.error().message);
    QStringList words;
    for (const DeployedItem& item : report->items)
        words << QString::fromStdString(deployedWord(item)) +
                     (item.keptFor.empty()
                          ? NodesPage::tr(" removed")
                          : NodesPage::tr(" stays: %1").arg(QString::fromStdString(item.keptFor)));
    return nodeTitle(node.toStdString()) + ": " +
           (words.isEmpty() ? NodesPage::tr("it is gone already") : words.join(", "));
}

} // namespace

NodesPage::NodesPage(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context) {
    buildUi();
    wire();
    restore();
}

void NodesPage::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kPageX, size::kPageY, size::kPageX, size::kPageY);
    column->setSpacing(size::kCardGap);
    m_header = new PageHeader(tr("Nodes"));
    m_cancel = m_header->addAction(tr("Cancel checks"), "quiet", "cancelChecks"); // moves no other
    m_clean = m_header->addAction(tr("Clean up"), "quiet", "cleanNodes");
    m_import = m_header->addAction(tr("Import"), "quiet", "importNodes");
    m_import->setToolTip(tr("Add nodes by their names in ~/.ssh/config"));
    m_links = m_header->addAction(tr("Test links"), "quiet", "testLinks");
    m_add = m_header->addAction(tr("Add node"), "", "addNode");
    m_checkAll = m_header->addAction(tr("Check all"), "primary", "checkAll");
    constexpr int kMany = 88; // as wide as any number of two digits
    keepWidth(*m_cancel, {tr("Cancel %1 checks").arg(kMany)});
    keepWidth(*m_checkAll, {tr("Check this computer"), tr("Check %1 nodes").arg(kMany)});
    column->addWidget(m_header);
    m_fileBanner = new Banner("nodesFileBanner");
    auto* again = makeButton(tr("Read again"), "", "readNodesAgain");
    connect(again, &QPushButton::clicked, this, [this] { (void)m_context.fleet.load(); });
    m_fileBanner->addAction(again);
    column->addWidget(m_fileBanner);
    column->addWidget(buildCards());
    auto* content = new QWidget;
    auto* inner = new QVBoxLayout(content);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(size::kCardGap);
    inner->addWidget(buildCheck());
    m_network = new NetworkCard(m_context);
    inner->addWidget(m_network);
    m_differences = new DifferencesCard;
    inner->addWidget(m_differences);
    inner->addStretch(1);
    auto* scroll = new QScrollArea;
    scroll->setObjectName("nodeScroll");
    scroll->setFocusPolicy(Qt::NoFocus); // a stop of Tab that nobody sees
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(content);
    column->addWidget(scroll, 1);
}

/// The cards stand above what scrolls, so that the check of the chosen one stays in sight, and
/// scroll by themselves where they are many.
QWidget* NodesPage::buildCards() {
    m_grid = new ReflowGrid(3, size::kNodeCardMin);
    m_cardsArea = new CappedArea(m_grid, "nodeCards", [this](int) { return heightOfCards(); });
    return m_cardsArea;
}

void NodesPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_cardsArea->fit();
}

/// As high as all cards are, or as two and a half rows, and in a low window less, so that
/// most of it is left for the check.
int NodesPage::heightOfCards() const {
    if (m_cards.empty())
        return 0;
    const int row = m_cards.front()->sizeHint().height();
    const int rows = 5 * row / 2 + 2 * size::kCardGap;
    const int share = std::max(2 * height() / 5, row + size::kCardGap);
    const int all = m_grid->sizeHint().height();
    const bool isWhole = all <= rows + row / 2 + size::kCardGap && all <= share;
    return isWhole ? all : std::min(rows, share);
}

QWidget* NodesPage::buildCheck() {
    auto* card = new Card;
    card->body()->setContentsMargins(16, 10, 16, 14);
    card->body()->setSpacing(0);
    auto* head = new QHBoxLayout;
    head->setSpacing(size::kGrid / 2); // or it would be that of the rows
    m_checkTitle = new ElidedLabel(tr("Check"), "cardTitle");
    m_checkSummary = makeLabel({}, "secondary");
    m_checkSummary->setObjectName("checkSummary");
    m_remove = makeButton(tr("Remove…"), "quiet", "removeNode");
    m_edit = makeButton(tr("Edit"), "quiet", "editNode");
    m_history = makeButton(tr("History"), "quiet", "checkHistory");
    m_selfTest = makeButton(tr("Self-test"), "quiet", "selfTestNode");
    m_selfTest->setToolTip(tr("Let its devices compute what is known, and compare: about 10 s"));
    m_checkOne = makeButton(tr("Check again"), "quiet", "checkNode");
    m_cancelOne = makeButton(tr("Cancel"), "quiet", "cancelCheck");
    for (QPushButton* button : {m_checkOne, m_cancelOne}) // one in the other's place
        button->setMinimumWidth(m_checkOne->sizeHint().width());
    head->addWidget(m_checkTitle);
    head->addStretch(1);
    head->addWidget(m_checkSummary);
    head->addSpacing(size::kGrid);
    head->addWidget(m_selfTest);
    head->addWidget(m_checkOne);
    head->addWidget(m_cancelOne);
    head->addWidget(m_history);
    head->addWidget(m_edit);
    head->addWidget(m_remove);
    card->body()->addLayout(head);
    m_use = makeText({}, "bodySecondary");
    m_use->setObjectName("nodeUse");
    card->body()->addWidget(m_use);
    card->body()->addSpacing(size::kGrid);
    m_rows = new QVBoxLayout;
    m_rows->setSpacing(0);
    card->body()->addLayout(m_rows);
    card->body()->addStretch(1);
    return card;
}

void NodesPage::wire() {
    connect(m_clean, &QPushButton::clicked, this,
            [this] { (new CleanNodesDialog(m_context, window()))->open(); });
    connect(m_links, &QPushButton::clicked, this,
            [this] { (new LinkTestDialog(m_context, window()))->open(); });
    connect(m_selfTest, &QPushButton::clicked, this, &NodesPage::selfTestSelected);
    connect(&m_context.engine, &Engine::progressed, this,
            [this](const QString& id, const Progress& progress) {
                if (m_testing && id == trialId(*m_testing))
                    showSelfTest(progress);
            });
    connect(m_add, &QPushButton::clicked, this, &NodesPage::addNode);
    connect(m_import, &QPushButton::clicked, this, &NodesPage::importNodes);
    connect(m_history, &QPushButton::clicked, this,
            [this] { (new CheckHistoryDialog(m_context.fleet, m_selected, window()))->open(); });
    connect(m_checkAll, &QPushButton::clicked, &m_context.connector, &NodeConnector::checkAll);
    connect(m_checkOne, &QPushButton::clicked, this,
            [this] { m_context.connector.check(m_selected); });
    connect(m_cancelOne, &QPushButton::clicked, this,
            [this] { m_context.fleet.cancelCheck(m_selected); });
    connect(m_cancel, &QPushButton::clicked, &m_context.connector, &NodeConnector::cancelAll);
    connect(m_edit, &QPushButton::clicked, this, &NodesPage::editSelected);
    connect(m_remove, &QPushButton::clicked, this, &NodesPage::removeSelected);
    connect(&m_context.fleet, &Fleet::nodesChanged, this, &NodesPage::rebuildCards);
    connect(&m_context.fleet, &Fleet::checkChanged, this, &NodesPage::refresh);
    m_ageTimer.setInterval(kAgeMs);
    connect(&m_ageTimer, &QTimer::timeout, this, &NodesPage::showAges);
    connect(&m_context.fleet, &Fleet::checkProgressed, this, &NodesPage::refresh);
    connect(&m_context.connector, &NodeConnector::checkingChanged, this, &NodesPage::refresh);
    connect(&m_context.connector, &NodeConnector::leftUnanswered, this,
            [this](const QString& name) { offerToAnswer(name); });
}

void NodesPage::restore() {
    m_selected = kLocalNodeName;
    rebuildCards();
}

void NodesPage::rebuildCards() {
    m_grid->clear();
    m_cards.clear();
    for (const Node& node : m_context.fleet.nodes()) {
        auto* card = new NodeCard(node);
        const QString name = QString::fromStdString(node.name);
        connect(card, &NodeCard::selected, this, [this, name] { select(name); });
        connect(card, &NodeCard::moveRequested, this, &NodesPage::moveSelection);
        m_cards.push_back(card);
        m_grid->add(card);
        refresh(name);
    }
    QWidget* before = m_checkAll;
    for (NodeCard* card : m_cards) {
        setTabOrder(before, card);
        before = card;
    }
    setTabOrder(before, m_selfTest);
    showWarnings();
    showFileProblem();
    select(m_context.fleet.find(m_selected) ? m_selected : QString(kLocalNodeName));
}

/// What nodes.toml has that this release does not know.
void NodesPage::showWarnings() {
    QStringList warnings;
    for (const std::string& warning : m_context.fleet.takeWarnings())
        warnings << QString::fromStdString(warning);
    if (const auto problem = m_context.fleet.problem())
        warnings << tr("The list of nodes cannot be read: %1")
                        .arg(QString::fromStdString(problem->message));
    if (!warnings.isEmpty())
        m_context.toast.say(warnings.join('\n'));
}

/// Why nodes are missing here that a person has added.
void NodesPage::showFileProblem() {
    const auto problem = m_context.fleet.problem();
    m_fileBanner->show(
        Tone::kBad, problem ? tr("The list of nodes cannot be read") : QString(),
        problem ? tr("%1\nNothing is written to it meanwhile. Mend it with an editor and read it "
                     "again.")
                      .arg(QString::fromStdString(problem->message))
                : QString());
}

void NodesPage::refresh(const QString& name) {
    for (NodeCard* card : m_cards)
        if (card->node().name == name.toStdString())
            card->show(m_context.fleet.lastCheck(name), progressOf(name), m_context.runs.runs());
    refreshHeader();
    refreshDifferences();
    if (name == m_selected)
        showCheck();
}

/// Empty: it is not being checked.
QString NodesPage::progressOf(const QString& name) const {
    return m_context.connector.isChecking(name) ? progressWords(m_context.fleet, name) : QString();
}

/// Once for all answers that come in the same turn of the event loop.
void NodesPage::refreshDifferences() {
    if (!std::exchange(m_isComparing, true))
        QMetaObject::invokeMethod(this, &NodesPage::compare, Qt::QueuedConnection);
}

void NodesPage::compare() {
    m_isComparing = false;
    m_differences->show(compareNodes(m_context.fleet.lastChecks()));
}

void NodesPage::refreshHeader() {
    const std::vector<Node> nodes = m_context.fleet.nodes();
    m_header->setFacts(fleetWords(nodes, m_context.fleet));
    m_checkAll->setText(nodes.size() == 1 ? tr("Check this computer")
                                          : tr("Check %1 nodes").arg(nodes.size()));
    const auto checking = std::ranges::count_if(nodes, [this](const Node& node) {
        return m_context.connector.isChecking(QString::fromStdString(node.name));
    });
    m_cancel->setVisible(checking > 1);
    m_cancel->setText(tr("Cancel %1 checks").arg(checking));
}

void NodesPage::select(const QString& name) {
    m_selected = name;
    for (NodeCard* card : m_cards) {
        const bool isIt = card->node().name == name.toStdString();
        card->setSelected(m_cards.size() > 1 && isIt);
        card->setFocusPolicy(isIt ? Qt::StrongFocus : Qt::ClickFocus);
        if (isIt)
            m_cardsArea->ensureWidgetVisible(card, 0, size::kCardGap);
    }
    if (std::ranges::any_of(m_cards, &NodeCard::hasFocus))
        focusSelected();
    showCheck();
}

std::vector<std::pair<QString, QPushButton*>> NodesPage::actions() const {
    const QString node = nodeTitle(m_selected.toStdString());
    std::vector<std::pair<QString, QPushButton*>> all{
        {tr("Clean up the nodes"), m_clean},
        {tr("Import nodes"), m_import},
        {tr("Test links"), m_links},
        {tr("Measure the network"), m_network->measureButton()},
        {tr("Self-test of %1").arg(node), m_selfTest},
        {tr("History of the checks of %1").arg(node), m_history}};
    std::erase_if(all, [this](const auto& action) {
        return !action.second->isVisibleTo(this) || !action.second->isEnabled();
    });
    return all;
}

void NodesPage::focusSelected() {
    for (NodeCard* card : m_cards)
        if (card->node().name == m_selected.toStdString())
            card->setFocus(Qt::OtherFocusReason);
}

/// As in a list: the focus goes along.
void NodesPage::moveSelection(int key) {
    const auto last = static_cast<qsizetype>(m_cards.size()) - 1;
    const auto isIt = [this](const NodeCard* card) {
        return card->node().name == m_selected.toStdString();
    };
    const qsizetype at = std::ranges::find_if(m_cards, isIt) - m_cards.begin();
    const auto columns = std::ranges::count_if(
        m_cards, [this](const NodeCard* card) { return card->y() == m_cards.front()->y(); });
    const qsizetype to = key == Qt::Key_Home    ? 0
                         : key == Qt::Key_End   ? last
                         : key == Qt::Key_Left  ? at - 1
                         : key == Qt::Key_Right ? at + 1
                         : key == Qt::Key_Up    ? at - columns
                                                : at + columns;
    if (to < 0 || to > last)
        return;
    select(QString::fromStdString(m_cards[static_cast<size_t>(to)]->node().name));
}

/// The focus goes to the button by which a question that was closed is asked again.
void NodesPage::offerToAnswer(const QString& name) {
    if (name == m_selected)
        focusAction({});
}

/// The button of the row with this id, else the first.
void NodesPage::focusAction(const QString& row) {
    QPushButton* found = nullptr;
    for (auto* button : findChildren<QPushButton*>("checkAction")) {
        if (!button->isVisibleTo(this)) // rows of the last look wait for their end, hidden
            continue;
        if (!found || button->parentWidget()->property("row").toString() == row)
            found = button;
    }
    if (found)
        found->setFocus(Qt::OtherFocusReason);
}

void NodesPage::clearRows() {
    while (QLayoutItem* item = m_rows->takeAt(0)) {
        if (QWidget* widget = item->widget()) {
            widget->hide();
            widget->deleteLater();
        }
        delete item;
    }
}

void NodesPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    showAges();
    m_ageTimer.start();
}

void NodesPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_ageTimer.stop();
}

void NodesPage::showAges() {
    m_network->refresh();
    for (NodeCard* card : m_cards) {
        const QString name = QString::fromStdString(card->node().name);
        card->show(m_context.fleet.lastCheck(name), progressOf(name), m_context.runs.runs());
    }
    if (!m_checkSummary->text().isEmpty())
        if (const auto check = m_context.fleet.lastCheck(m_selected))
            m_checkSummary->setText(summaryOf(*check));
}

void NodesPage::showCheck() {
    const QWidget* focused = window()->focusWidget();
    const bool isRowFocused =
        focused && focused->objectName() == "checkAction" && isAncestorOf(focused);
    const QString focusedRow =
        isRowFocused ? focused->parentWidget()->property("row").toString() : QString();
    const bool checking = m_context.connector.isChecking(m_selected);
    const auto check = m_context.fleet.lastCheck(m_selected);
    m_checkTitle->setFullText(m_selected == kLocalNodeName ? tr("Check of this computer")
                                                           : tr("Check of %1").arg(m_selected));
    const Node node = m_context.fleet.find(m_selected).value_or(Node());
    m_selfTest->setVisible(!node.isSlurm); // nothing computes on a login node
    const QString use = useWords(node);
    m_use->setText(use);
    m_use->setVisible(!use.isEmpty());
    m_remove->setVisible(m_selected != kLocalNodeName);
    QPushButton* shown = checking ? m_cancelOne : m_checkOne;
    showInsteadOf(shown, checking ? m_checkOne : m_cancelOne);
    // Before its row goes, as Qt would pass it on to whatever is next, and scroll there.
    if (isRowFocused)
        shown->setFocus(Qt::OtherFocusReason);
    clearRows();
    m_checkOne->setText(check ? tr("Check again") : tr("Check now"));
    m_checkSummary->setText({});
    if (checking || !check) {
        m_rows->addWidget(makeLine());
        m_rows->addSpacing(size::kCardGap);
        m_rows->addWidget(makeText(checking ? progressOf(m_selected)
                                            : tr("Not checked yet. A check connects, sends the "
                                                 "agent (a few MB, once) and lists what it found."),
                                   "bodySecondary"));
        return;
    }
    std::vector<CheckRow> rows = checkRows(*check);
    std::ranges::stable_partition(
        rows, [](CheckRow::State state) { return state != CheckRow::State::kGood; },
        &CheckRow::state);
    m_checkSummary->setText(summaryOf(*check));
    m_checkSummary->setToolTip(formatExact(check->checkedNs));
    QWidget* before = m_remove;
    for (const CheckRow& row : rows)
        before = addRow(row, before);
    if (isRowFocused)
        focusAction(focusedRow);
}

/// Returns what Tab leads to last, beginning with `before`.
QWidget* NodesPage::addRow(const CheckRow& row, QWidget* before) {
    m_rows->addWidget(makeLine());
    auto* view = new CheckRowView(row);
    connect(view, &CheckRowView::acted, this, &NodesPage::act);
    m_rows->addWidget(view);
    view->show(); // the layout does so later, and the focus may come to its button before
    auto* button = view->findChild<QPushButton*>();
    if (!button)
        return before;
    setTabOrder(before, button);
    return button;
}

void NodesPage::act(const CheckAction& action) {
    const QString argument = QString::fromStdString(action.argument);
    switch (action.kind) {
    case CheckAction::Kind::kCopyCommand:
        QGuiApplication::clipboard()->setText(argument);
        return m_context.toast.say(tr("Copied: %1").arg(argument));
    case CheckAction::Kind::kEndLeftovers:
        return endLeftovers(argument.split(' ', Qt::SkipEmptyParts));
    case CheckAction::Kind::kRemoveAgents:
        return removeAgents(argument.split(' ', Qt::SkipEmptyParts));
    case CheckAction::Kind::kSelfTest:
        return selfTestSelected();
    case CheckAction::Kind::kTrustHostKey:
    case CheckAction::Kind::kEnterSecret:
        return m_context.connector.askAgain(m_selected);
    }
}

void NodesPage::endLeftovers(const QStringList& runs) {
    auto* dialog = new EndLeftoversDialog(m_context, m_selected, runs, window());
    connect(dialog, &QDialog::accepted, this,
            [this, name = m_selected] { m_context.connector.check(name); });
    dialog->open();
}

/// The node looks anew whether nothing needs them, so that nobody has to be asked.
void NodesPage::removeAgents(const QStringList& ids) {
    NodeCleaning cleaning{.isPreview = false};
    for (const QString& id : ids)
        cleaning.agents.push_back(id.toStdString());
    whenAnswered(m_context.engine.ask(CleanNodeRequest{m_selected, cleaning}), this,
                 [this, name = m_selected](const Result<DeployedReport>& report) {
                     m_context.toast.say(removedWords(name, report));
                     m_context.connector.check(name);
                 });
}

void NodesPage::addNode() {
    openDialog(new NodeDialog(m_context.fleet, window()));
}

void NodesPage::editSelected() {
    const auto node = m_context.fleet.find(m_selected);
    if (!node)
        return;
    auto* dialog = new NodeDialog(m_context.fleet, *node, window());
    connect(dialog, &NodeDialog::saved, this, [this, before = *node](const QString& name) {
        const auto now = m_context.fleet.find(name);
        const QStringList live = liveRunsOn(m_context.runs.runs(), before.name);
        if (now && !live.isEmpty() && !areReachedAlike(*now, before))
            m_context.toast.say(
                capitalized(say("engine.edited-while-live",
                                {{"runs", live.join(", ").toStdString()}, {"node", before.name}})));
    });
    openDialog(dialog);
}

void NodesPage::openDialog(NodeDialog* dialog) {
    connect(dialog, &NodeDialog::saved, this, [this](const QString& name) {
        select(name);
        m_context.connector.checkAnew(name);
    });
    dialog->open();
}

void NodesPage::importNodes() {
    auto* dialog = new ImportNodesDialog(m_context.fleet, window());
    connect(dialog, &ImportNodesDialog::imported, this, [this](const QStringList& names) {
        select(names.front());
        for (const QString& name : names)
            m_context.connector.check(name);
    });
    dialog->open();
}

/// How far the self-test is; a transfer tells of itself many times a second.
void NodesPage::showSelfTest(const Progress& progress) {
    constexpr qint64 kCalmMs = 1000;
    const bool isNews = progress.stage != m_testStage;
    if (!isNews && m_testShown.isValid() && !m_testShown.hasExpired(kCalmMs))
        return;
    m_testStage = progress.stage;
    m_testShown.start();
    m_context.toast.say(
        tr("Testing the devices of %1: %2")
            .arg(nodeTitle(m_testing->nodes.front().node.toStdString()), progressWords(progress)));
}

/// Starts a self-test; its findings are in a row of the next check.
void NodesPage::selfTestSelected() {
    if (m_testing) {
        m_context.engine.ask(StopTrialRequest{*m_testing});
        return;
    }
    const QString name = m_selected;
    m_testing = NodeTrial{TrialKind::kSelfTest, {{name, 0}}, {}};
    m_selfTest->setText(tr("Stop self-test"));
    m_testShown.invalidate();
    showSelfTest({tr("Starting")});
    whenAnswered(m_context.engine.ask(TrialRequest{*m_testing}), this,
                 [this, name](const Result<QString>& answer) {
                     m_testing.reset();
                     m_selfTest->setText(tr("Self-test"));
                     m_context.toast.say(selfTestWords(nodeTitle(name.toStdString()), answer));
                     m_context.connector.check(name);
                 });
}

/// Once its removal cannot be undone any more.
void NodesPage::forgetIfGone(const Node& gone) {
    const auto isIt = [&gone](const Node& node) {
        return node.sshHost == gone.sshHost && node.user == gone.user && node.port == gone.port &&
               node.jumpHost == gone.jumpHost;
    };
    if (std::ranges::none_of(m_context.fleet.nodes(), isIt))
        m_context.connector.forget(gone);
}

void NodesPage::removeSelected() {
    const auto node = m_context.fleet.find(m_selected);
    if (!node)
        return;
    const QStringList live = liveRunsOn(m_context.runs.runs(), node->name);
    if (!live.isEmpty())
        return m_context.toast.say(tr("%1 trains on %2: pause, stop or kill it first.")
                                       .arg(live.join(", "), nodeTitle(node->name)));
    auto* dialog = new RemoveNodeDialog(m_context.engine, m_context.fleet, *node, window());
    connect(dialog, &RemoveNodeDialog::forgotten, this, &NodesPage::offerUndo);
    // The button that the focus would come back to is gone with the node.
    connect(dialog, &QDialog::accepted, this, &NodesPage::focusSelected);
    dialog->open();
}

void NodesPage::offerUndo(const RemovedNode& gone, bool isClean) {
    const QString title = nodeTitle(gone.node.name);
    RemovedNode again = gone;
    if (isClean)
        again.check.reset(); // what it found is not there any more
    const auto bringBack = [this, gone = again] {
        if (const auto back = m_context.fleet.bringBack(gone); !back) {
            forgetIfGone(gone.node);
            return m_context.toast.say(capitalized(back.error().message));
        }
        select(QString::fromStdString(gone.node.name));
        focusSelected();
    };
    const auto lapse = [this, gone] { forgetIfGone(gone.node); };
    if (isClean)
        m_context.toast.offer(
            tr("%1 removed, and what Ringmaster had put there deleted").arg(title),
            tr("List it again"), bringBack, lapse);
    else
        m_context.toast.offerUndo(tr("%1 removed from the list").arg(title), bringBack, lapse);
}

} // namespace rm
