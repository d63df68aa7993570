// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/launch/link_test.h"
#include "app/core/network/network_file.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/dialogs/placement_list.h"
#include "app/ui/dialogs/remove_node_dialog.h"
#include "app/ui/dialogs/sheet.h"
#include "app/ui/nodes/check_row_view.h"
#include "app/ui/nodes/nodes_page.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/toast.h"
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "tests/gui/support/silent_port.h"
#include "tests/gui/support/widget_audit.h"
#include "tests/gui/support/window_fixture.h"
#include "tests/unit/core/engine/fake_engine.h"
#include "tests/unit/core/fleet/good_row.h"
#include "tests/unit/core/network/network_examples.h"

#include <QAbstractItemView>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QWindow>

#include <fcntl.h>
#include <sys/stat.h>

using namespace rm;
using namespace rm::test;

namespace {
constexpr int kNobodyListens = 1;
constexpr int kAnswerMs = 60'000;
} // namespace

/// A node is added and edited by a form.
class TestNodesPage : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup() { m_demo.reset(); }

    void aPortThatIsNotGivenIsAPlaceholder();
    void aBrokenListOfNodesIsShownAndReadAgain();
    void aNodeIsEditedUnderItsName();
    void aNodeWithRanksThatIsEditedSaysWhatBecomesOfThem();
    void aHostThatIsNoneIsCalledSo();
    void thisComputerIsToldHowToBeUsedAndNotHowToBeReached();
    void aClusterHasNoSelfTest();
    void gpusAreTickedThatTheLastCheckFound();
    void whatANodeIsUsedForIsAskedBehindAFold();
    void namesOfSshConfigAreImported();
    void namesOfSshConfigAreThereBeforeWhereTheyLead();
    void pastChecksAreShownWithWhatChanged();
    void aGroupIsChosenAtOnce();
    void theKeyboardAloneReachesEachNodeAndItsCheck();
    void noScrollAreaIsAStopOfTab();
    void noScrollBarsStandBesideEachOther();
    void tabComesToEachFieldOfANodeInTurn();
    void nodesAreCleanedAfterAPreview();
    void anAgentOfAnotherReleaseIsRemovedByOnePress();
    void aNodeThatIsEditedDuringItsCheckIsCheckedAnew();
    void whatAnotherRingmasterStartedIsNamedAndAskedFor();
    void whatDidNotPassStandsFirst();
    void theAgeOfACheckGrows();
    void aCardEndsWithItsProblem();
    void aTrialTellsHowFarItIsAndIsStopped();
    void oneKeyOfTwoNodesIsAskedAboutOnce();
    void twoKeysAreAskedAboutOneAfterAnother();
    void aDialogKeepsTheKeyboard();
    void nodesToChooseFromStayInPlaceWhenOneIsChecked();
    void aListOfNodesStaysWhereItWasScrolledTo();
    void aRemovalIsNotLeftHalfDone();
    void aRemovalThatFailedCanBeLeft();
    void whatCannotBeUndoneAnyMoreLapses();
    void anUndoneRemovalLeavesNothingOut();
    void aCommandIsCopiedFromItsRow();
    void anUnknownKeyIsTrustedFromItsRow();
    void theFocusStaysAtACheckBehindAnotherWindow();
    void aCheckFromElsewhereMovesNeitherFocusNorPage();
    void buttonsThatDoNotFitBesideTheTitleStandBelow();
    void buttonsKeepTheirPlacesDuringChecks();
    void thePaletteOffersWhatThePageDoes();
    void aPasswordIsEnteredFromItsRow();
    void aChangedKeyHasNoButton();
    void dialogsOfManyNodesFitTheScreen_data();
    void dialogsOfManyNodesFitTheScreen();
    void aDialogKeepsTheSizeOfAPersonUntilItSaysMore();
    void aDialogIsAsWideAsALongPath();
    void whatEachSizeOfSumsTookIsShown();
    void aFleetOfOneHasNoNetwork();
    void theNetworkIsMeasuredAndANodeThatIsGoneIsNamed();
    void whatWasMeasuredLastIsShownInCells();
    void theNetworkIsOfNodesInTheListAndOfWhatWasMeasuredLast();
    void theNetworkIsMeasuredBetweenTheOthers();
    void aMeasurementTellsHowFarItIsAndIsStopped();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    void click(const char* button) const;
    /// Lets the fleet take it for the answer of a check.
    void check(const NodeCheck& check);

    std::unique_ptr<WindowFixture> m_demo;
};

void TestNodesPage::init() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kEmpty);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().showNodes();
}

void TestNodesPage::click(const char* button) const {
    auto* found = find<QPushButton>(button);
    QTRY_VERIFY2(found->isVisible() && found->isEnabled(), button);
    QTest::mouseClick(found, Qt::LeftButton);
}

void TestNodesPage::aPortThatIsNotGivenIsAPlaceholder() {
    click("addNode");
    auto* port = find<QSpinBox>("nodePort");
    auto* text = port->findChild<QLineEdit*>();
    QCOMPARE(text->text(), QString());
    QVERIFY(text->placeholderText().contains("22"));
    QTest::keyClicks(text, "2222");
    QCOMPARE(port->value(), 2222);
    text->selectAll();
    QTest::keyClick(text, Qt::Key_Delete);
    QCOMPARE(port->value(), 0);
    QTest::keyClicks(text, "99999"); // is no port, and not cut to one
    QTest::keyClicks(find<QLineEdit>("nodeHost"), "h");
    click("addNodeConfirm");
    QVERIFY(find<QLabel>("addNodeProblem")->text().contains("99999"));
    QVERIFY(find<QLabel>("addNodeProblem")->text().contains("65535"));
}

void TestNodesPage::aBrokenListOfNodesIsShownAndReadAgain() {
    const std::string path = m_demo->paths().config.toStdString() + "/nodes.toml";
    QVERIFY(writeFileAtomically(path, "[[node]]\nname = \"box\"\nhost = h\n"));
    QVERIFY(!m_demo->fleet().load());
    const auto* banner = find<QFrame>("nodesFileBanner");
    QVERIFY(banner->isVisible());
    QVERIFY2(banner->accessibleName().contains("nodes.toml") &&
                 banner->accessibleName().contains("line 3"),
             qPrintable(banner->accessibleName()));
    click("readNodesAgain");
    QVERIFY(banner->isVisible()); // it is as it was
    QVERIFY(writeFileAtomically(path, "\n[[node]]\nname = \"box\"\nhost = h\n"));
    QVERIFY(!m_demo->fleet().load()); // not by the button
    QVERIFY2(banner->accessibleName().contains("line 4"), qPrintable(banner->accessibleName()));
    QVERIFY(writeFileAtomically(path, "[[node]]\nname = \"box\"\nhost = \"h\"\n"));
    click("readNodesAgain");
    QVERIFY(banner->isHidden());
    QVERIFY(m_demo->fleet().find("box"));
}

void TestNodesPage::aNodeIsEditedUnderItsName() {
    QVERIFY(m_demo->fleet().add({"box", false, "old.example", "me", 0, {}}));
    m_demo->window().nodesPage().select("box");
    click("editNode");
    QVERIFY(find<QDialog>("editNodeDialog"));
    QCOMPARE(find<QLineEdit>("nodeHost")->text(), QString("old.example"));
    QVERIFY(!find<QLineEdit>("nodeName")->isEnabled());
    find<QLineEdit>("nodeHost")->setText("127.0.0.1");
    find<QSpinBox>("nodePort")->setValue(kNobodyListens);
    QSignalSpy checked(&m_demo->fleet(), &Fleet::checkChanged);
    click("editNodeConfirm");
    const Node expected{"box", false, "127.0.0.1", "me", kNobodyListens, {}};
    QVERIFY(m_demo->fleet().find("box") == expected);
    QTRY_VERIFY(!checked.isEmpty());
    QCOMPARE(checked.front().front().toString(), QString("box"));
    Fleet next(m_demo->paths().config);
    QVERIFY(next.load());
    QVERIFY(next.find("box") == expected);
}

void TestNodesPage::aNodeWithRanksThatIsEditedSaysWhatBecomesOfThem() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Fill([](StoreWriter& writer) {
        return writer
            .createRun({"trains-1", "trains", toToml(RunSpec()), {{0, "box", 1, 0}}, {}, 0})
            .and_then([&] { return writer.setState("trains-1", RunStateKind::kRunning); });
    }));
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    QTRY_VERIFY(!m_demo->window().runs().runs().empty());
    m_demo->window().showNodes();
    m_demo->window().nodesPage().select("box");
    click("editNode");
    find<QLineEdit>("nodeHost")->setText("other.invalid");
    click("editNodeConfirm");
    QTRY_VERIFY(find<QWidget>("toast")->accessibleName().contains("Box has ranks of trains-1"));
}

void TestNodesPage::aHostThatIsNoneIsCalledSo() {
    click("addNode");
    find<QLineEdit>("nodeHost")->setText("me@host");
    click("addNodeConfirm");
    const QString problem = find<QLabel>("addNodeProblem")->text();
    QVERIFY2(problem.contains("host 'me@host' may hold") && !problem.contains("a name is"),
             qPrintable(problem));
    QPoint place;
    int turns = 0; // in succession that left it there
    const auto rests = [&] {
        QCoreApplication::processEvents(); // the form is placed
        const QPoint before =
            std::exchange(place, find<QPushButton>("addNodeConfirm")->mapToGlobal(QPoint()));
        turns = before == place ? turns + 1 : 0;
        return turns >= 2;
    };
    QTRY_VERIFY(rests());
    const QPoint withProblem = place;
    turns = 0;
    // An address is no name, but nobody has typed it as one.
    find<QLineEdit>("nodeHost")->setText("fe80::1");
    QVERIFY(!find<QLabel>("addNodeProblem")->isVisible());
    QTRY_VERIFY(rests());
    QCOMPARE(place, withProblem); // the form does not move under who types
    click("addNodeConfirm");
    QCOMPARE(QString::fromStdString(m_demo->fleet().find("fe80--1").value_or(Node()).sshHost),
             QString("fe80::1"));
}

void TestNodesPage::thisComputerIsToldHowToBeUsedAndNotHowToBeReached() {
    m_demo->window().nodesPage().select(kLocalNodeName);
    QVERIFY(!find<QPushButton>("removeNode")->isVisible());
    click("editNode");
    QVERIFY(!find<QLineEdit>("nodeHost")->isVisible() && !find<QLineEdit>("nodeJump")->isVisible());
    find<QLineEdit>("nodeGroups")->setText("desk");
    click("editNodeConfirm");
    QCOMPARE(m_demo->fleet().find(kLocalNodeName)->groups, std::vector<std::string>{"desk"});
    QTRY_VERIFY(find<QLabel>("nodeUse")->text().contains("desk"));
}

namespace {

NodeCheck checkWithGpus(const std::string& name, int64_t checkedNs) {
    NodeCheck check;
    check.node = name;
    check.ready = true;
    check.checkedNs = checkedNs;
    check.report = NodeReport{};
    check.report->gpus = {{"NVIDIA H200", 1LL << 37, "GPU-a", 0},
                          {"NVIDIA GeForce GT 710", 1LL << 30, "GPU-b", 0}};
    check.report->driver = "580.65.06";
    return check;
}

} // namespace

namespace {

NodeCheck refusedCheck(const std::string& name, const ConnectFailure& failure) {
    NodeCheck check;
    check.node = name;
    check.checkedNs = 1;
    check.failure = failure;
    check.rows = {refusedRow(failure, name)};
    return check;
}

ConnectFailure refusal(ConnectFailure::Need need, ConnectFailure::Cause cause,
                       const std::string& fingerprint = {}) {
    return {{ErrorCode::kDenied, "connect to ssh me@box.invalid: why"}, need, fingerprint, cause};
}

} // namespace

void TestNodesPage::check(const NodeCheck& check) {
    Fleet& fleet = m_demo->fleet();
    fleet.setChecker(
        [check](const QString&, const Credentials&) { return QtFuture::makeReadyFuture(check); });
    const auto answer = fleet.check(QString::fromStdString(check.node));
    QTRY_VERIFY(answer.isFinished());
}

void TestNodesPage::aClusterHasNoSelfTest() {
    Node cluster{"leonardo", false, "login.example", {}, 0, {}};
    cluster.isSlurm = true;
    QVERIFY(m_demo->fleet().add(cluster));
    QVERIFY(m_demo->fleet().add({"box", false, "box.example", {}, 0, {}}));
    m_demo->window().nodesPage().select("leonardo");
    QTRY_VERIFY(find<QPushButton>("editNode")->isVisible());
    QVERIFY(!find<QPushButton>("selfTestNode")->isVisible());
    m_demo->window().nodesPage().select("box");
    QTRY_VERIFY(find<QPushButton>("selfTestNode")->isVisible());
}

void TestNodesPage::gpusAreTickedThatTheLastCheckFound() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    check(checkWithGpus("box", 1));
    m_demo->window().nodesPage().select("box");
    click("editNode");
    click("nodeMore.head");
    auto* display = find<QCheckBox>("gpu.1");
    QVERIFY(display->text().contains("GT 710") && display->isChecked());
    display->click();
    click("editNodeConfirm");
    QCOMPARE(m_demo->fleet().find("box")->gpus, std::vector<std::string>{"0"});
    QTRY_VERIFY(!find<QDialog>("editNodeDialog"));
    click("editNode");
    QVERIFY(find<QCheckBox>("gpu.0")->isChecked() && !find<QCheckBox>("gpu.1")->isChecked());
    find<QCheckBox>("gpu.0")->click();
    click("editNodeConfirm");
    QVERIFY(find<QLabel>("addNodeProblem")->text().contains("none is ticked"));
    find<QCheckBox>("gpu.0")->click();
    find<QCheckBox>("gpu.1")->click();
    click("editNodeConfirm");
    QVERIFY(m_demo->fleet().find("box")->gpus.empty());
}

void TestNodesPage::whatANodeIsUsedForIsAskedBehindAFold() {
    click("addNode");
    find<QLineEdit>("nodeHost")->setText("box.invalid");
    find<QLineEdit>("nodeJump")->setText("me@gate:2222");
    QVERIFY(!find<QLineEdit>("nodeGroups")->isVisible());
    click("nodeMore.head");
    QVERIFY(find<QLineEdit>("nodeGroups")->isVisible());
    find<QLineEdit>("nodeGroups")->setText("lab, a100");
    find<QLineEdit>("nodeGpus")->setText("0, 2");
    auto* variable = find<QComboBox>("variable.0");
    const int ofGpus = variable->findText("CUDA_VISIBLE_DEVICES"); // is read, not chosen
    QVERIFY(ofGpus >= 0);
    QVERIFY(
        !variable->model()->flags(variable->model()->index(ofGpus, 0)).testFlag(Qt::ItemIsEnabled));
    QVERIFY(variable->itemData(ofGpus, Qt::ToolTipRole).toString().contains("become this var"));
    variable->setEditText("NCCL_DEBUG");
    QVERIFY2(variable->toolTip().contains("log of a rank"), qPrintable(variable->toolTip()));
    find<QLineEdit>("value.0")->setText("INFO");
    QVERIFY(find<QComboBox>("variable.1")); // for one more
    find<QLineEdit>("nodePrice")->setText("12345,678");
    find<QPlainTextEdit>("nodeNotes")->setPlainText("noisy");
    click("addNodeConfirm");
    const Node added = m_demo->fleet().find("box.invalid").value_or(Node());
    QCOMPARE(added.jumpHost, std::string("me@gate:2222"));
    QCOMPARE(added.groups, (std::vector<std::string>{"lab", "a100"}));
    QCOMPARE(added.gpus, (std::vector<std::string>{"0", "2"}));
    QCOMPARE(added.environment, std::vector<std::string>{"NCCL_DEBUG=INFO"});
    QCOMPARE(added.pricePerHour, 12345.678);
    QCOMPARE(added.notes, std::string("noisy"));
    QTRY_VERIFY(!find<QDialog>("addNodeDialog"));
    click("editNode");
    click("nodeMore.head");
    QCOMPARE(find<QLineEdit>("value.0")->text(), QString("INFO"));
    find<QLineEdit>("nodeGroups")->setText("lab, test group");
    click("editNodeConfirm");
    QVERIFY(find<QLabel>("addNodeProblem")->text().contains("group 'test group' must be"));
    QCOMPARE(m_demo->fleet().find("box.invalid")->groups, added.groups);
    find<QLineEdit>("nodeGroups")->setText("lab, a100");
    find<QLineEdit>("nodeGpus")->setText("no");
    click("editNodeConfirm");
    QVERIFY(find<QLabel>("addNodeProblem")->text().contains("GPU 'no' is neither"));
    find<QLineEdit>("nodeGpus")->setText("0");
    QCOMPARE(find<QLineEdit>("nodePrice")->text(), QString("12345.678"));
    find<QLineEdit>("nodePrice")->setText("cheap");
    click("editNodeConfirm");
    QVERIFY(find<QLabel>("addNodeProblem")->text().contains("its price must be a number"));
}

void TestNodesPage::namesOfSshConfigAreImported() {
    QTemporaryDir home;
    const QByteArray before = qgetenv("HOME");
    const auto reset = qScopeGuard([&] {
        m_demo.reset(); // with its checks, which read the environment
        qputenv("HOME", before);
    });
    qputenv("HOME", home.path().toLocal8Bit());
    QVERIFY(QDir(home.path()).mkpath(".ssh"));
    QVERIFY(writeFileAtomically(home.filePath(".ssh/config").toStdString(),
                                "Host one\n  HostName one.invalid\n  Port 2201\n"
                                "Host two\n  HostName two.invalid\n  ProxyJump me@gate:22\n"
                                "Host weird!name\n"));
    QVERIFY(m_demo->fleet().add({"first", false, "one", {}, 0, {}}));
    click("importNodes");
    auto* model = find<QAbstractItemView>("importNodesTable")->model();
    QTRY_COMPARE(model->rowCount(), 3);
    QTRY_VERIFY(!find<QLabel>("importNodesText")->text().contains("being read"));
    QCOMPARE(model->index(0, 1).data().toString(), QString("one.invalid:2201"));
    QCOMPARE(model->index(2, 1).data().toString(), QString()); // it leads nowhere
    const QString why = model->index(2, 4).data().toString();
    QVERIFY2(!why.isEmpty() && !why.startsWith("set up node"), qPrintable(why));
    QVERIFY(model->index(0, 4).data().toString().contains("first"));
    QVERIFY(!(model->flags(model->index(0, 0)) & Qt::ItemIsUserCheckable));
    QVERIFY(model->index(1, 2).data().toString().contains("gate"));
    QVERIFY(!find<QPushButton>("importNodesConfirm")->isEnabled());
    QVERIFY(model->setData(model->index(1, 0), Qt::Checked, Qt::CheckStateRole));
    // Return adds nothing while a person still chooses, whatever is selected.
    auto* table = find<QAbstractItemView>("importNodesTable");
    for (const bool isSelected : {true, false}) {
        table->setCurrentIndex(model->index(1, 0));
        if (!isSelected)
            table->clearSelection();
        table->setFocus();
        QTRY_VERIFY(table->hasFocus());
        QTest::keyClick(table, Qt::Key_Return);
        QVERIFY(table->isVisible() && !m_demo->fleet().find("two"));
    }
    click("importNodesConfirm");
    QCOMPARE(m_demo->fleet().find("two").value_or(Node()).sshHost, std::string("two"));
}

/// Where a name leads is asked of ssh, which takes seconds for many.
void TestNodesPage::namesOfSshConfigAreThereBeforeWhereTheyLead() {
    QTemporaryDir home;
    const QByteArray before = qgetenv("HOME"), path = qgetenv("PATH");
    const QString ssh = QStandardPaths::findExecutable("ssh");
    const auto reset = qScopeGuard([&] {
        m_demo.reset(); // with what it reads, by the environment
        qputenv("HOME", before);
        qputenv("PATH", path);
    });
    QVERIFY(QDir(home.path()).mkpath(".ssh") && QDir(home.path()).mkpath("bin"));
    QString config;
    for (int i = 0; i < 300; ++i)
        config += QString("Host name-%1\n  HostName %1.invalid\n").arg(i);
    QVERIFY(writeFileAtomically(home.filePath(".ssh/config").toStdString(), config.toStdString()));
    const QString gate = home.filePath("gate"), stub = home.filePath("bin/ssh");
    QVERIFY(writeFileAtomically(stub.toStdString(),
                                QString("#!/bin/sh\nwhile [ ! -e '%1' ]; do sleep 0.05; done\n"
                                        "exec '%2' \"$@\"\n")
                                    .arg(gate, ssh)
                                    .toStdString()));
    QVERIFY(QFile::setPermissions(stub, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
    qputenv("HOME", home.path().toLocal8Bit());
    qputenv("PATH", home.filePath("bin").toLocal8Bit() + ':' + path);
    click("importNodes");
    auto* model = find<QAbstractItemView>("importNodesTable")->model();
    QTRY_COMPARE(model->rowCount(), 300);
    const auto* text = find<QLabel>("importNodesText");
    QVERIFY2(text->text().contains("being read: 0 of 300"), qPrintable(text->text()));
    QCOMPARE(model->index(0, 1).data().toString(), QString());
    // One that is ticked is read before the others, and waited for.
    QVERIFY(model->setData(model->index(299, 0), Qt::Checked, Qt::CheckStateRole));
    QVERIFY(!find<QPushButton>("importNodesConfirm")->isEnabled());
    QVERIFY(writeFileAtomically(gate.toStdString(), ""));
    QTRY_VERIFY_WITH_TIMEOUT(find<QPushButton>("importNodesConfirm")->isEnabled(), 60'000);
    QCOMPARE(model->index(299, 1).data().toString(), QString("299.invalid:22"));
    click("importNodesConfirm");
    QCOMPARE(m_demo->fleet().find("name-299").value_or(Node()).sshHost, std::string("name-299"));
}

void TestNodesPage::pastChecksAreShownWithWhatChanged() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    check(checkWithGpus("box", 1));
    NodeCheck later = checkWithGpus("box", 2);
    later.report->driver = "590.1";
    check(later);
    m_demo->window().nodesPage().select("box");
    click("checkHistory");
    const auto* model = find<QAbstractItemView>("checkHistoryTable")->model();
    QCOMPARE(model->rowCount(), 2);
    QCOMPARE(model->index(0, 2).data().toString(), QString("driver 580.65.06 became 590.1"));
    QCOMPARE(model->index(1, 2).data().toString(), QString());
}

void TestNodesPage::aGroupIsChosenAtOnce() {
    for (const char* name : {"one", "two", "three"}) {
        Node node{name, false, std::string(name) + ".invalid", "me", 0, {}};
        if (name != std::string("three"))
            node.groups = {"lab"};
        QVERIFY(m_demo->fleet().add(node));
    }
    m_demo->window().showNewRun();
    const auto isTicked = [this](const char* name) {
        return find<QCheckBox>((std::string("place.") + name).c_str())->isChecked();
    };
    // Those of the lists before the last node came have the same names.
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QVERIFY(find<QPushButton>("group.lab"));
    find<QPushButton>("group.lab")->click();
    QVERIFY(isTicked("one") && isTicked("two") && !isTicked("three"));
    QVERIFY(!isTicked(kLocalNodeName)); // which nobody had chosen
    find<QPushButton>("group.lab")->click();
    QVERIFY(!isTicked("one") && !isTicked("two"));
}

void TestNodesPage::theKeyboardAloneReachesEachNodeAndItsCheck() {
    for (const char* name : {"alpha", "beta"})
        QVERIFY(m_demo->fleet().add({name, false, std::string(name) + ".invalid", "me", 0, {}}));
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    MainWindow& window = m_demo->window();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    window.nodesPage().select(kLocalNodeName);
    QTest::keyClick(&window, Qt::Key_1, Qt::ControlModifier);
    QTest::keyClick(&window, Qt::Key_3, Qt::ControlModifier);
    QCOMPARE(window.focusWidget()->property("node").toString(), QString(kLocalNodeName));
    find<QPushButton>("checkAll")->setFocus();
    QTest::keyClick(window.focusWidget(), Qt::Key_Tab); // to the selected card
    QTest::keyClick(window.focusWidget(), Qt::Key_Right);
    QTest::keyClick(window.focusWidget(), Qt::Key_Right);
    QCOMPARE(window.focusWidget()->property("node").toString(), QString("beta"));
    QTest::keyClick(window.focusWidget(), Qt::Key_Right); // there is no further one
    QTest::keyClick(window.focusWidget(), Qt::Key_Tab);
    QCOMPARE(window.focusWidget()->objectName(), QString("selfTestNode"));
    QTRY_VERIFY(find<QPushButton>("removeNode")->isVisible()); // of beta, not of this computer
    QTest::keyClick(window.focusWidget(), Qt::Key_Tab, Qt::ShiftModifier);
    QCOMPARE(window.focusWidget()->property("node").toString(), QString("beta"));
    const ConnectFailure refused =
        refusal(ConnectFailure::Need::kTrustHostKey, ConnectFailure::Cause::kHostKey, "SHA256:abc");
    m_demo->fleet().setChecker([&](const QString&, const Credentials&) {
        return QtFuture::makeReadyFuture(refusedCheck("beta", refused));
    });
    const auto answer = m_demo->fleet().check("beta");
    QTRY_VERIFY(answer.isFinished());
    QTRY_VERIFY(find<QPushButton>("checkAction") && find<QPushButton>("checkAction")->isVisible());
    find<QPushButton>("removeNode")->setFocus();
    QTest::keyClick(window.focusWidget(), Qt::Key_Tab);
    QCOMPARE(window.focusWidget()->objectName(), QString("checkAction"));
    QTest::keyClick(window.focusWidget(), Qt::Key_Return);
    QTRY_VERIFY(find<QDialog>("hostKeyDialog"));
    QTest::keyClick(find<QDialog>("hostKeyDialog"), Qt::Key_Escape);
    QTRY_VERIFY(!find<QDialog>("hostKeyDialog"));
    const auto again = m_demo->fleet().check("beta"); // its row is made anew
    QTRY_VERIFY(again.isFinished());
    QCOMPARE(window.focusWidget()->objectName(), QString("checkAction"));
}

/// Of many nodes with a long check: the cards scroll, and what stands below them.
void TestNodesPage::noScrollBarsStandBesideEachOther() {
    m_demo->window().resize(1280, 800);
    std::vector<Node> nodes;
    for (int number = 0; number < 20; ++number)
        nodes.push_back({"node-" + std::to_string(number), false, "box.invalid", "me", 0, {}});
    QVERIFY(m_demo->fleet().addAll(nodes));
    NodeCheck found;
    found.node = "node-7";
    found.checkedNs = 1;
    for (int row = 0; row < 40; ++row)
        found.rows.push_back(goodRow("row" + std::to_string(row), "Row", "as it should be"));
    check(found);
    NodesPage& page = m_demo->window().nodesPage();
    page.select("node-7");
    const auto bars = [&page] {
        std::vector<QRect> places;
        for (const auto* bar : page.findChildren<QScrollBar*>())
            if (bar->isVisible() && bar->orientation() == Qt::Vertical)
                places.emplace_back(bar->mapTo(&page, QPoint()), bar->size());
        return places;
    };
    const auto areApart = [](const QRect& a, const QRect& b) {
        return a.bottom() < b.top() || b.bottom() < a.top();
    };
    QTRY_COMPARE(bars().size(), size_t{2});
    QTRY_VERIFY(areApart(bars().front(), bars().back()));
}

/// As they stand, and to a line of variables that was added while one was typed.
void TestNodesPage::tabComesToEachFieldOfANodeInTurn() {
    click("addNode");
    auto* dialog = find<QDialog>("addNodeDialog");
    QVERIFY(dialog && QTest::qWaitForWindowActive(dialog));
    click("nodeMore.head");
    find<QCheckBox>("nodeSlurm")->setChecked(true); // so that its options can be typed
    find<QComboBox>("variable.0")->setEditText("NCCL_DEBUG");
    QTRY_VERIFY(find<QComboBox>("variable.1") && find<QComboBox>("variable.1")->isVisible());
    find<QLineEdit>("nodeHost")->setFocus();
    QStringList visited;
    for (int i = 0; i < 17 && !visited.contains("nodeNotes"); ++i) {
        visited << dialog->focusWidget()->objectName();
        QTest::keyClick(dialog->focusWidget(), Qt::Key_Tab);
    }
    const QStringList wanted = {"nodeHost",   "nodeName",  "nodeUser",   "nodePort",   "nodeKey",
                                "nodeJump",   "nodeSlurm", "nodeSbatch", "variable.0", "value.0",
                                "variable.1", "value.1",   "nodeGroups", "nodePrice",  "nodeNotes"};
    QStringList inTurn;
    for (const QString& name : visited)
        if (wanted.contains(name))
            inTurn << name;
    QVERIFY2(inTurn == wanted, qPrintable(visited.join(' ')));
    click("cancel");
}

/// Each place where Tab stops can be seen.
void TestNodesPage::noScrollAreaIsAStopOfTab() {
    for (const QScrollArea* area : m_demo->window().findChildren<QScrollArea*>())
        QVERIFY2(!(area->focusPolicy() & Qt::TabFocus), qPrintable(area->objectName()));
}

void TestNodesPage::nodesAreCleanedAfterAPreview() {
    QTemporaryDir home;
    const QByteArray stateBefore = qgetenv("XDG_STATE_HOME");
    qputenv("RINGMASTER_HOME", home.path().toLocal8Bit());
    qputenv("XDG_STATE_HOME", home.path().toLocal8Bit()); // no runs of who tests this
    const auto reset = qScopeGuard([&stateBefore] {
        qunsetenv("RINGMASTER_HOME");
        if (stateBefore.isNull())
            qunsetenv("XDG_STATE_HOME");
        else
            qputenv("XDG_STATE_HOME", stateBefore);
    });
    const QString data = home.filePath("data/" + QString(64, 'a'));
    QVERIFY(QDir().mkpath(data));
    QVERIFY(writeFileAtomically((data + "/train").toStdString(), std::string(3'000'000, ' ')));
    const timespec longAgo[2] = {};
    QCOMPARE(::utimensat(AT_FDCWD, data.toLocal8Bit(), longAgo, 0), 0);
    QVERIFY(m_demo->fleet().add({"gone", false, "no-such-machine.invalid", "me", 0, {}}));
    click("cleanNodes");
    QTRY_VERIFY_WITH_TIMEOUT(find<QPushButton>("cleanNodesConfirm")->isEnabled(), kAnswerMs);
    const QString preview = find<QLabel>("cleanNodesText")->text();
    QVERIFY2(preview.contains("can go") && preview.contains("Clean gone: "), qPrintable(preview));
    QCOMPARE(find<QAbstractItemView>("cleanNodesTable")->model()->rowCount(), 1);
    QVERIFY(QFile::exists(data));
    click("cleanNodesConfirm");
    QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(data), kAnswerMs);
    QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>("cleanNodesText")->text().contains("removed"), kAnswerMs);
    click("closeCleanNodes");
    QTRY_VERIFY(!find<QDialog>("cleanNodesDialog"));
}

void TestNodesPage::anAgentOfAnotherReleaseIsRemovedByOnePress() {
    QTemporaryDir home;
    qputenv("RINGMASTER_HOME", home.path().toLocal8Bit());
    const auto reset = qScopeGuard([] { qunsetenv("RINGMASTER_HOME"); });
    const timespec longAgo[2] = {};
    for (const char name : {'a', 'b'}) {
        const QString agent = home.filePath("agents/" + QString(64, name));
        QVERIFY(QDir().mkpath(agent));
        QVERIFY(writeFileAtomically((agent + "/.ringmaster-label").toStdString(), "0.0.9"));
        QCOMPARE(::utimensat(AT_FDCWD, agent.toLocal8Bit(), longAgo, 0), 0);
    }
    NodeCheck found = checkWithGpus(kLocalNodeName, 1);
    found.report->otherAgents = {{std::string(64, 'a'), "0.0.9", 1, ""}};
    found.rows = {*otherAgentsRow(*found.report, kLocalNodeName)};
    check(found);
    m_demo->window().nodesPage().select(kLocalNodeName);
    QTRY_VERIFY(find<QPushButton>("checkAction") && find<QPushButton>("checkAction")->isVisible());
    click("checkAction");
    QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(home.filePath("agents/" + QString(64, 'a'))),
                             kAnswerMs);
    QVERIFY(QFile::exists(home.filePath("agents/" + QString(64, 'b'))));
}

/// What was asked of it before says nothing of the GPUs that it is to train on now.
void TestNodesPage::aNodeThatIsEditedDuringItsCheckIsCheckedAnew() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    check(checkWithGpus("box", 1));
    std::vector<std::shared_ptr<QPromise<NodeCheck>>> requested;
    m_demo->fleet().setChecker([&requested](const QString&, const Credentials&) {
        requested.push_back(std::make_shared<QPromise<NodeCheck>>());
        requested.back()->start();
        return requested.back()->future();
    });
    const auto answer = [&requested](size_t which, int64_t checkedNs) {
        requested[which]->addResult(checkWithGpus("box", checkedNs));
        requested[which]->finish();
    };
    m_demo->window().nodesPage().select("box");
    click("checkNode");
    QCOMPARE(requested.size(), size_t{1});
    click("editNode");
    click("nodeMore.head");
    find<QCheckBox>("gpu.1")->click();
    click("editNodeConfirm");
    QTRY_COMPARE(requested.size(), size_t{2});
    QVERIFY(find<QPushButton>("cancelCheck")->isVisible());
    answer(0, 2);
    QTest::qWait(0);
    QVERIFY(find<QPushButton>("cancelCheck")->isVisible());
    answer(1, 3);
    QTRY_VERIFY(find<QPushButton>("checkNode")->isVisible());
    QCOMPARE(m_demo->fleet().lastCheck("box")->checkedNs, int64_t{3});
}

void TestNodesPage::whatAnotherRingmasterStartedIsNamedAndAskedFor() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    NodeCheck found = checkWithGpus("box", 1);
    found.report->runs = {{"other-7", "o", 1, 2, true, 120, 0, "anna@lab"}};
    found.rows = rowsOf(*found.report);
    std::erase_if(found.rows, [](const CheckRow& row) { return row.id != "leftovers"; });
    check(found);
    m_demo->window().nodesPage().select("box");
    click("checkAction");
    const QString words = find<QLabel>("endLeftoversOthers")->text();
    QVERIFY2(words.contains("other-7 (2 ranks, trains, at step 120, started by anna@lab)"),
             qPrintable(words));
    auto* confirm = find<QPushButton>("endLeftoversConfirm");
    QVERIFY(!confirm->isEnabled());
    find<QCheckBox>("endLeftoversWithOthers")->click();
    QVERIFY(confirm->isEnabled());
    find<QCheckBox>("endLeftoversWithOthers")->click();
    QVERIFY(!confirm->isEnabled());
}

void TestNodesPage::whatDidNotPassStandsFirst() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    NodeCheck found = checkWithGpus("box", 1);
    found.rows = {goodRow("system", "Sound", "so it is"),
                  {"clock", CheckRow::State::kWarning, "Late", "by 5 s", "why", "what to do"}};
    check(found);
    m_demo->window().nodesPage().select("box");
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QStringList titles; // as they were laid out
    for (const auto* row : m_demo->window().findChildren<CheckRowView*>())
        for (const auto* label : row->findChildren<QLabel*>())
            if (label->text() == "Sound" || label->text() == "Late")
                titles << label->text();
    QCOMPARE(titles, QStringList({"Late", "Sound"}));
}

void TestNodesPage::aCardEndsWithItsProblem() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    NodeCheck found = checkWithGpus("box", 1);
    found.ready = false;
    found.report->home = "/root"; // so that there is a line of its disk, which has to go
    found.report->disks = {{"/", "ext4", 1 << 30, 1 << 20}};
    found.rows = {{"disk", CheckRow::State::kBad, "Disk", "1 MiB free", "too little", "make room"}};
    check(found);
    QStringList roles;
    for (const auto* label : m_demo->window().findChildren<QLabel*>())
        if (label->text() == "Disk: 1 MiB free")
            roles << label->property("role").toString();
    QCOMPARE(roles, QStringList{"bad"});
}

void TestNodesPage::theAgeOfACheckGrows() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    constexpr int64_t kSecondNs = 1'000'000'000;
    NodeCheck found = checkWithGpus("box", 1);
    found.checkedNs = wallNowNs() - 40 * kSecondNs; // "just now" for five more
    check(found);
    m_demo->window().nodesPage().select("box");
    const auto* summary = find<QLabel>("checkSummary");
    QVERIFY(summary);
    QTRY_VERIFY_WITH_TIMEOUT(summary->text().endsWith("1 min ago"), kAnswerMs);
}

/// As a launch does; its node says nothing meanwhile.
void TestNodesPage::aTrialTellsHowFarItIsAndIsStopped() {
    const SilentPort silent;
    QVERIFY(silent.port() > 0);
    QVERIFY(m_demo->fleet().add({"box", false, "127.0.0.1", "me", silent.port(), {}}));
    m_demo->window().nodesPage().select("box");
    auto* selfTest = find<QPushButton>("selfTestNode");
    click("selfTestNode");
    QCOMPARE(selfTest->text(), QString("Stop self-test"));
    QTRY_VERIFY(find<QWidget>("toast")->accessibleName().endsWith("box: Check nodes"));
    click("selfTestNode");
    QTRY_COMPARE_WITH_TIMEOUT(selfTest->text(), QString("Self-test"), kAnswerMs);

    click("testLinks");
    auto* dialog = find<QDialog>("linkTestDialog");
    for (const char* node : {"place.box", "place.this-computer"})
        dialog->findChild<QCheckBox*>(node)->setChecked(true);
    click("linkTestMeasure");
    auto* text = find<QLabel>("linkTestText");
    QTRY_COMPARE(text->text(), QString("Check nodes"));
    Progress sending{.stage = "Send trainer", .done = 3'000'000, .total = 42'000'000};
    sending.sent = 1'500'000;
    sending.bytesPerSec = 2e6;
    sending.nodes = {{"box"}};
    std::vector<Placement> nodes;
    for (const Node& node : m_demo->fleet().nodes())
        nodes.push_back({QString::fromStdString(node.name), 0});
    Q_EMIT m_demo->engine().progressed(trialId({TrialKind::kAllReduce, nodes, {}}), sending);
    QCOMPARE(text->text().replace(QChar(0x202f), ' '),
             QString("Send trainer to box: 3 MB of 42 MB · 1.5 MB sent · 2 MB/s"));
    Q_EMIT m_demo->engine().progressed("another", {"Measure"});
    QVERIFY(text->text().startsWith("Send trainer"));
    auto* close = find<QPushButton>("closeLinkTest");
    QCOMPARE(close->text(), QString("Cancel"));
    click("closeLinkTest");
    QTRY_COMPARE_WITH_TIMEOUT(close->text(), QString("Close"), kAnswerMs);
    QVERIFY(dialog->isVisible());
    click("closeLinkTest");
}

/// Two names of one machine, say.
void TestNodesPage::oneKeyOfTwoNodesIsAskedAboutOnce() {
    for (const char* name : {"box", "twin"})
        QVERIFY(m_demo->fleet().add({name, false, std::string(name) + ".invalid", "me", 0, {}}));
    std::vector<std::pair<QString, bool>> checks; // and whether the key is trusted
    m_demo->fleet().setChecker([&checks](const QString& name, const Credentials& given) {
        checks.emplace_back(name, given.trustedFingerprint.has_value());
        NodeCheck check = checkWithGpus(name.toStdString(), 1);
        if (!given.trustedFingerprint)
            check.failure = ConnectFailure{{ErrorCode::kDenied, "its key is not known"},
                                           ConnectFailure::Need::kTrustHostKey,
                                           "SHA256:abc"};
        return QtFuture::makeReadyFuture(check);
    });
    for (const char* name : {"box", "twin"}) {
        m_demo->window().nodesPage().select(name);
        click("checkNode");
    }
    QTRY_COMPARE(checks.size(), size_t{2});
    QTRY_VERIFY(find<QLabel>("sameKey"));
    QTRY_VERIFY(find<QLabel>("sameKey")->text().contains("twin (twin.invalid)"));
    QCOMPARE(m_demo->window().findChildren<QDialog*>("hostKeyDialog").size(), 1);
    click("trustKey");
    QTRY_COMPARE(checks.size(), size_t{4});
    QVERIFY(checks[2] == std::pair(QString("box"), true));
    QVERIFY(checks[3] == std::pair(QString("twin"), true));
    QTRY_VERIFY(!find<QDialog>("hostKeyDialog"));
}

/// So that a double click on the first one does not answer the next one unread.
void TestNodesPage::twoKeysAreAskedAboutOneAfterAnother() {
    for (const char* name : {"box", "twin"})
        QVERIFY(m_demo->fleet().add({name, false, std::string(name) + ".invalid", "me", 0, {}}));
    std::vector<std::string> trusted;
    m_demo->fleet().setChecker([&trusted](const QString& name, const Credentials& given) {
        if (given.trustedFingerprint) {
            trusted.push_back(*given.trustedFingerprint);
            return QtFuture::makeReadyFuture(checkWithGpus(name.toStdString(), 1));
        }
        const std::string key = "SHA256:" + name.toStdString();
        return QtFuture::makeReadyFuture(
            refusedCheck(name.toStdString(), refusal(ConnectFailure::Need::kTrustHostKey,
                                                     ConnectFailure::Cause::kHostKey, key)));
    });
    const auto requested = [this] {
        QStringList open;
        for (const auto* dialog : m_demo->window().findChildren<QDialog*>("hostKeyDialog"))
            if (dialog->isVisible())
                open << dialog->findChild<QLabel*>("fingerprint")->text();
        return open;
    };
    const auto answer = [this](const char* button) {
        for (const auto* dialog : m_demo->window().findChildren<QDialog*>("hostKeyDialog"))
            if (dialog->isVisible())
                QTest::mouseClick(dialog->findChild<QPushButton*>(button), Qt::LeftButton);
    };
    for (const char* name : {"box", "twin"}) {
        m_demo->window().nodesPage().select(name);
        click("checkNode");
    }
    QTRY_COMPARE(m_demo->window().findChildren<QDialog*>("hostKeyDialog").size(), 2);
    QCOMPARE(requested(), QStringList("SHA256:box"));
    answer("trustKey");
    QCOMPARE(requested(), QStringList());
    QTRY_COMPARE(requested(), QStringList("SHA256:twin"));
    answer("cancel");
    QTRY_VERIFY(!find<QDialog>("hostKeyDialog"));
    QCOMPARE(trusted, std::vector<std::string>{"SHA256:box"});
}

/// Some window managers activate the window behind where a person clicks on it.
void TestNodesPage::aDialogKeepsTheKeyboard() {
    click("addNode");
    auto* dialog = find<QDialog>("addNodeDialog");
    QVERIFY(dialog);
    QTRY_VERIFY(dialog->isActiveWindow());
    const QWindow* window = m_demo->window().windowHandle();
    bool wasTaken = false;
    const auto seen = connect(qApp, &QGuiApplication::focusWindowChanged, this,
                              [&](const QWindow* now) { wasTaken |= now == window; });
    m_demo->window().windowHandle()->requestActivate();
    QTRY_VERIFY(wasTaken);
    disconnect(seen);
    QTRY_VERIFY(dialog->isActiveWindow());
    QTest::keyClick(QGuiApplication::focusWindow(), Qt::Key_Escape);
    QTRY_VERIFY(!find<QDialog>("addNodeDialog"));
}

namespace {

/// Answers what is asked about deployed files when a test wants it.
struct CleaningEngine : FakeEngine {
    void post(EngineRequest request, Done done) override {
        requested = std::get<CleanNodeRequest>(request).cleaning;
        give = std::move(done);
    }
    void answer(const Result<DeployedReport>& report) { give(report); }

    NodeCleaning requested;
    Done give;
};

DeployedReport deployedTrainer() {
    DeployedReport report;
    report.items = {{"bundles", "cpu", 300'000'000, 0, {}, {}}};
    return report;
}

} // namespace

void TestNodesPage::aRemovalIsNotLeftHalfDone() {
    CleaningEngine engine;
    for (const char* name : {"box", "twin"}) {
        QVERIFY(m_demo->fleet().add({name, false, "box.invalid", "me", 0, {}}));
        NodeCheck found = checkWithGpus(name, 1);
        found.report->stateId = "the same";
        check(found);
    }
    auto* dialog = new RemoveNodeDialog(engine, m_demo->fleet(), *m_demo->fleet().find("box"),
                                        &m_demo->window());
    QSignalSpy forgotten(dialog, &RemoveNodeDialog::forgotten);
    dialog->open();
    engine.answer(deployedTrainer());
    QTRY_VERIFY(find<QLabel>("removeNodeText")->text().contains("can go"));
    QVERIFY(!find<QLabel>("removeNodeText")->text().contains("twin"));
    auto* runs = find<QCheckBox>("removeNodeRuns");
    runs->click();
    QVERIFY(engine.requested.isPreview && engine.requested.withRuns);
    engine.answer(deployedTrainer());
    QTRY_VERIFY2(find<QLabel>("removeNodeText")->text().contains("gone for twin"),
                 qPrintable(find<QLabel>("removeNodeText")->text()));
    runs->click();
    runs->click();
    DeployedReport withOthers = deployedTrainer();
    withOthers.items.push_back({"runs", "their-1", 1000, 0, {}, {}, {}, "you@laptop"});
    engine.answer(withOthers);
    QTRY_VERIFY2(find<QLabel>("removeNodeText")
                     ->text()
                     .contains("of another Ringmaster go, too, and cannot go on: their-1, started "
                               "by you@laptop."),
                 qPrintable(find<QLabel>("removeNodeText")->text()));
    click("removeFromNode");
    QVERIFY(!engine.requested.isPreview);
    QVERIFY(!runs->isEnabled() && !find<QPushButton>("removeFromList")->isEnabled());
    QTest::keyClick(dialog, Qt::Key_Escape);
    dialog->close();
    QVERIFY(dialog->isVisible());
    engine.answer(deployedTrainer());
    QTRY_COMPARE(forgotten.count(), 1);
    QVERIFY(forgotten.front()[1].toBool() && !m_demo->fleet().find("box"));
}

void TestNodesPage::aRemovalThatFailedCanBeLeft() {
    CleaningEngine engine;
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    auto* dialog = new RemoveNodeDialog(engine, m_demo->fleet(), *m_demo->fleet().find("box"),
                                        &m_demo->window());
    dialog->open();
    engine.answer(deployedTrainer());
    click("removeFromNode");
    engine.answer(fail(ErrorCode::kUnavailable, "clean box: the connection was lost"));
    QTRY_VERIFY(find<QLabel>("removeNodeText")->text().contains("the connection was lost"));
    QVERIFY(find<QCheckBox>("removeNodeRuns")->isEnabled());
    QTest::keyClick(dialog, Qt::Key_Escape);
    QVERIFY(!dialog->isVisible() && m_demo->fleet().find("box"));
}

/// With the offer to bring a node back goes its password.
void TestNodesPage::whatCannotBeUndoneAnyMoreLapses() {
    QWidget window;
    window.resize(800, 600);
    Toast toast(&window);
    int undone = 0, lapsed = 0;
    const auto offer = [&] {
        toast.offer(
            "box removed", "Undo", [&] { ++undone; }, [&] { ++lapsed; });
    };
    window.show();
    offer();
    toast.findChild<QPushButton*>("toastAction")->click();
    QCOMPARE(undone, 1);
    QCOMPARE(lapsed, 0);
    offer();
    toast.say("something else");
    QCOMPARE(lapsed, 1);
    offer();
    QTest::mouseClick(&toast, Qt::LeftButton, {}, {2, 2});
    QCOMPARE(lapsed, 2);
    QCOMPARE(undone, 1);
}

void TestNodesPage::anUndoneRemovalLeavesNothingOut() {
    m_demo->window().newRunPage(); // makes it
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    check(checkWithGpus("box", 1));
    const auto isTicked = [this] {
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete); // earlier lists
        return find<QCheckBox>("place.box")->isChecked();
    };
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    find<QCheckBox>("place.box")->click();
    find<QSpinBox>("ranks.box")->setValue(2);
    const auto removeAndUndo = [this](const std::function<void()>& meanwhile) {
        m_demo->window().nodesPage().select("box");
        click("removeNode");
        click("removeFromList");
        QTRY_VERIFY(!find<QDialog>("removeNodeDialog"));
        QVERIFY(!m_demo->fleet().find("box") && m_demo->fleet().history("box").empty());
        meanwhile();
        click("toastAction");
    };
    removeAndUndo([] {});
    QCOMPARE(m_demo->fleet().lastCheck("box").value_or(NodeCheck()).checkedNs, int64_t{1});
    QCOMPARE(m_demo->fleet().history("box").size(), size_t{1});
    QVERIFY(isTicked());
    QCOMPARE(find<QSpinBox>("ranks.box")->value(), 2);
    // What was deleted there does not come back.
    click("removeNode");
    auto* dialog = find<RemoveNodeDialog>("removeNodeDialog");
    const auto gone = m_demo->fleet().remove("box");
    Q_EMIT dialog->forgotten(*gone, true);
    dialog->reject();
    click("toastAction");
    QVERIFY(m_demo->fleet().find("box") && !m_demo->fleet().lastCheck("box"));
    check(checkWithGpus("box", 1));
    // Another machine of that name was not chosen by anybody.
    removeAndUndo([this, &isTicked] {
        QVERIFY(m_demo->fleet().add({"box", false, "elsewhere.invalid", "me", 0, {}}));
        QVERIFY(!isTicked());
    });
    QCOMPARE(m_demo->fleet().find("box")->sshHost, std::string("elsewhere.invalid"));
    QVERIFY(!isTicked());
}

void TestNodesPage::nodesToChooseFromStayInPlaceWhenOneIsChecked() {
    for (const char* name : {"alpha", "beta"})
        QVERIFY(m_demo->fleet().add({name, false, "box.invalid", "me", 0, {}}));
    m_demo->window().showNewRun();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete); // earlier rows
    auto* list = m_demo->window().findChild<PlacementList*>();
    const auto placeOfBeta = [&] {
        list->layout()->activate();
        return find<QCheckBox>("place.beta")->mapTo(list, QPoint()).y();
    };
    int last = 0;
    QTRY_VERIFY(std::exchange(last, placeOfBeta()) == placeOfBeta() && last > 0);
    check(checkWithGpus("alpha", 1));
    QCOMPARE(placeOfBeta(), last);
}

void TestNodesPage::aListOfNodesStaysWhereItWasScrolledTo() {
    std::vector<Node> nodes;
    for (int number = 0; number < 30; ++number)
        nodes.push_back({"node-" + std::to_string(number), false, "255.255.255.255", "me", 0, {}});
    QVERIFY(m_demo->fleet().addAll(nodes));
    click("testLinks");
    auto* sheet = find<QDialog>("linkTestDialog");
    QVERIFY(QTest::qWaitForWindowExposed(sheet));
    QScrollArea* area = nullptr;
    for (QWidget* up = sheet->findChild<PlacementList*>(); !area; up = up->parentWidget())
        area = qobject_cast<QScrollArea*>(up);
    QScrollBar* bar = area->verticalScrollBar();
    QTRY_VERIFY(bar->maximum() > 0);
    bar->setValue(bar->maximum() / 2);
    const int place = bar->value();
    nodes.front().notes = "was moved";
    QVERIFY(m_demo->fleet().change(nodes.front()));
    QCoreApplication::processEvents();
    QCOMPARE(bar->value(), place);
    sheet->close();
}

void TestNodesPage::aCommandIsCopiedFromItsRow() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    NodeCheck found = checkWithGpus("box", 1);
    found.rows.push_back({"disk", CheckRow::State::kBad, "Disk", "full", "why", "make room",
                          copyCommand("du -sh ~/.local/share")});
    check(found);
    m_demo->window().nodesPage().select("box");
    QGuiApplication::clipboard()->setText("before");
    click("checkAction");
    QCOMPARE(QGuiApplication::clipboard()->text(), QString("du -sh ~/.local/share"));
    QVERIFY(find<QWidget>("toast")->accessibleName().contains("du -sh ~/.local/share"));
}

/// Who leaves the question for later finds it in the row.
void TestNodesPage::anUnknownKeyIsTrustedFromItsRow() {
    const std::string shown = "SHA256:6ogFgDPvgHlPtH1TmPmNPjtsDiXCkTVTqOPMzYb9rpA";
    std::vector<std::string> trusted;
    m_demo->fleet().setChecker([&](const QString& name, const Credentials& credentials) {
        trusted.push_back(credentials.trustedFingerprint.value_or("none"));
        return QtFuture::makeReadyFuture(
            refusedCheck(name.toStdString(), refusal(ConnectFailure::Need::kTrustHostKey,
                                                     ConnectFailure::Cause::kHostKey, shown)));
    });
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    m_demo->window().nodesPage().select("box");
    click("checkNode");
    QTRY_VERIFY(find<QDialog>("hostKeyDialog"));
    click("cancel");
    QTRY_VERIFY(!find<QDialog>("hostKeyDialog"));
    QCOMPARE(find<QPushButton>("checkAction")->text(), QString("Trust…"));
    QTRY_COMPARE(m_demo->window().focusWidget(), find<QPushButton>("checkAction"));
    click("checkAction");
    QTRY_COMPARE(find<QLabel>("fingerprint")->text(), QString::fromStdString(shown));
    QCOMPARE(trusted, std::vector<std::string>{"none"}); // nothing happens before the answer
    click("trustKey");
    QTRY_COMPARE(trusted, (std::vector<std::string>{"none", shown}));
}

/// As a terminal makes it while somebody reads the last one.
void TestNodesPage::aCheckFromElsewhereMovesNeitherFocusNorPage() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    NodeCheck found = checkWithGpus("box", 1);
    for (int i = 0; i < 20; ++i)
        found.rows.push_back({"row-" + std::to_string(i), CheckRow::State::kWarning, "Late",
                              "by 5 s", "why", "what to do", copyCommand("date")});
    check(found);
    MainWindow& window = m_demo->window();
    window.resize(1000, 700);
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    window.nodesPage().select("box");
    auto* bar = find<QScrollArea>("nodeScroll")->verticalScrollBar();
    int most = 0;
    QTRY_VERIFY(std::exchange(most, bar->maximum()) == bar->maximum() && most > 0);
    const auto isTwelfth = [](const QWidget* button) {
        return button && button->objectName() == "checkAction" &&
               button->parentWidget()->property("row").toString() == "row-12";
    };
    for (auto* button : window.nodesPage().findChildren<QPushButton*>("checkAction"))
        if (isTwelfth(button) && button->isVisible())
            button->setFocus();
    QVERIFY(isTwelfth(window.focusWidget()));
    bar->setValue(most / 2);
    ++found.checkedNs;
    check(found);
    QCoreApplication::processEvents(); // the rows are placed
    QVERIFY(isTwelfth(window.focusWidget()));
    QCOMPARE(bar->value(), most / 2);
}

/// The smallest window has so much room where text is enlarged one and a half times.
void TestNodesPage::buttonsThatDoNotFitBesideTheTitleStandBelow() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    const QWidget* header = find<QPushButton>("addNode")->parentWidget();
    const auto* title = header->findChild<ElidedLabel*>();
    const auto isWhole = [&] {
        QRegion taken(title->geometry());
        bool isGood = title->width() >= title->sizeHint().width();
        for (const auto* button : header->findChildren<QPushButton*>()) {
            if (!button->isVisible())
                continue;
            isGood = isGood && button->width() >= button->sizeHint().width() &&
                     header->rect().contains(button->geometry()) &&
                     !taken.intersects(button->geometry());
            taken += button->geometry();
        }
        return isGood;
    };
    m_demo->window().resize(667, 467);
    QTRY_VERIFY(isWhole());
    QVERIFY(find<QPushButton>("addNode")->y() > title->geometry().bottom());
    m_demo->window().resize(1280, 800);
    QTRY_VERIFY(find<QPushButton>("addNode")->y() < title->geometry().bottom());
    QTRY_VERIFY(isWhole());
}

void TestNodesPage::buttonsKeepTheirPlacesDuringChecks() {
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    m_demo->window().resize(1280, 800);
    std::vector<std::pair<QString, std::shared_ptr<QPromise<NodeCheck>>>> requested;
    m_demo->fleet().setChecker([&requested](const QString& name, const Credentials&) {
        requested.emplace_back(name, std::make_shared<QPromise<NodeCheck>>());
        requested.back().second->start();
        return requested.back().second->future();
    });
    const auto places = [this] {
        QCoreApplication::processEvents(); // they are placed
        std::vector<int> at;
        for (const char* name : {"cleanNodes", "importNodes", "testLinks", "addNode", "checkAll",
                                 "selfTestNode", "checkHistory", "editNode"})
            at.push_back(find<QPushButton>(name)->mapTo(&m_demo->window(), QPoint()).x());
        return at;
    };
    std::vector<int> before;
    QTRY_VERIFY(std::exchange(before, places()) == places());
    click("checkAll");
    QTRY_VERIFY(find<QPushButton>("cancelChecks")->isVisible());
    QVERIFY(find<QPushButton>("cancelCheck")->isVisible());
    QCOMPARE(places(), before);
    for (const auto& [name, answer] : requested) {
        answer->addResult(checkWithGpus(name.toStdString(), 1));
        answer->finish();
    }
    QTRY_VERIFY(!find<QPushButton>("cancelChecks")->isVisible());
}

void TestNodesPage::thePaletteOffersWhatThePageDoes() {
    for (const char* name : {"alpha", "beta"})
        QVERIFY(m_demo->fleet().add({name, false, std::string(name) + ".invalid", "me", 0, {}}));
    check(checkWithGpus("beta", 1));
    m_demo->window().nodesPage().select("beta");
    m_demo->window().showRuns();
    m_demo->window().showPalette();
    const auto* list = find<QListWidget>("paletteList");
    for (const char* typed : {"clean up", "test links", "network", "history", "self-test"}) {
        find<QLineEdit>("paletteInput")->setText(typed);
        QVERIFY2(list->item(0)->text().contains(typed, Qt::CaseInsensitive),
                 qPrintable(list->item(0)->text()));
    }
    find<QLineEdit>("paletteInput")->setText("import");
    QTest::keyClick(find<QLineEdit>("paletteInput"), Qt::Key_Return);
    QTRY_VERIFY(find<QLabel>("importNodesText"));
    QVERIFY(m_demo->window().nodesPage().isVisible());
}

/// A window that is not active has a widget to which the focus will come.
void TestNodesPage::theFocusStaysAtACheckBehindAnotherWindow() {
    QPromise<NodeCheck> answer;
    answer.start();
    m_demo->fleet().setChecker([&](const QString&, const Credentials&) { return answer.future(); });
    QWidget other;
    other.show();
    other.activateWindow();
    QTRY_VERIFY(other.isActiveWindow());
    find<QPushButton>("checkNode")->setFocus();
    click("checkNode");
    QCOMPARE(m_demo->window().focusWidget(), find<QPushButton>("cancelCheck"));
    m_demo->window().activateWindow();
    QTRY_VERIFY(find<QPushButton>("cancelCheck")->hasFocus());
    answer.addResult(refusedCheck(
        kLocalNodeName, refusal(ConnectFailure::Need::kNothing, ConnectFailure::Cause::kOther)));
    answer.finish();
    QTRY_VERIFY(find<QPushButton>("checkNode")->hasFocus());
}

void TestNodesPage::aPasswordIsEnteredFromItsRow() {
    std::vector<std::string> given;
    m_demo->fleet().setChecker([&](const QString& name, const Credentials& credentials) {
        given.push_back(credentials.password.value_or("none").text());
        return QtFuture::makeReadyFuture(
            refusedCheck(name.toStdString(),
                         refusal(ConnectFailure::Need::kPassword, ConnectFailure::Cause::kLogin)));
    });
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    m_demo->window().nodesPage().select("box");
    click("checkNode");
    QTRY_VERIFY_WITH_TIMEOUT(find<QDialog>("passwordDialog"), kAnswerMs);
    click("cancel");
    QTRY_VERIFY(!find<QDialog>("passwordDialog"));
    QCOMPARE(find<QPushButton>("checkAction")->text(), QString("Enter password…"));
    click("checkAction");
    QTRY_VERIFY(find<QDialog>("passwordDialog"));
    find<QLineEdit>("password")->setText("secret");
    click("connect");
    QTRY_COMPARE(given, (std::vector<std::string>{"none", "secret"}));
}

void TestNodesPage::aChangedKeyHasNoButton() {
    const ConnectFailure changed =
        refusal(ConnectFailure::Need::kNothing, ConnectFailure::Cause::kHostKey);
    QVERIFY(m_demo->fleet().add({"box", false, "box.invalid", "me", 0, {}}));
    m_demo->fleet().setChecker([&](const QString&, const Credentials&) {
        return QtFuture::makeReadyFuture(refusedCheck("box", changed));
    });
    m_demo->window().nodesPage().select("box");
    click("checkNode");
    QTRY_VERIFY(m_demo->fleet().lastCheck("box") && find<QPushButton>("checkNode")->isVisible());
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QVERIFY(find<QWidget>("checkRow"));
    QVERIFY(!find<QPushButton>("checkAction") && !find<QDialog>("hostKeyDialog"));
}

void TestNodesPage::dialogsOfManyNodesFitTheScreen_data() {
    QTest::addColumn<QString>("button");
    QTest::addColumn<QString>("dialog");
    QTest::newRow("links") << "testLinks"
                           << "linkTestDialog";
    QTest::newRow("clean") << "cleanNodes"
                           << "cleanNodesDialog";
    QTest::newRow("remove") << "removeNode"
                            << "removeNodeDialog";
    QTest::newRow("edit") << "editNode"
                          << "editNodeDialog";
}

/// Of 64 nodes with names as long as clouds give them, on a screen of 800 x 800: the title and the
/// buttons are in sight, and no text is cut without an ellipsis.
void TestNodesPage::dialogsOfManyNodesFitTheScreen() {
    QFETCH(QString, button);
    QFETCH(QString, dialog);
    std::vector<Node> nodes;
    for (int number = 0; number < 64; ++number)
        nodes.push_back({"ip-10-0-0-" + std::to_string(number) +
                             ".eu-central-1.compute.internal.trainers.example",
                         false,
                         "255.255.255.255", // refused by the kernel
                         "me",
                         0,
                         {}});
    QVERIFY(m_demo->fleet().addAll(nodes));
    NodesPage& page = m_demo->window().nodesPage();
    page.select(QString::fromStdString(nodes[7].name));
    QTRY_COMPARE(clippedTexts(page), QStringList());
    click(button.toLatin1());
    auto* sheet = find<QDialog>(dialog.toLatin1());
    QVERIFY(sheet);
    const QRect screen = sheet->screen()->availableGeometry();
    if (auto* more = sheet->findChild<QPushButton*>("nodeMore.head"))
        more->click();
    QSize last;
    QTRY_VERIFY(std::exchange(last, sheet->size()) == sheet->size());
    QVERIFY2(screen.contains(sheet->frameGeometry()),
             qPrintable(QString("%1 x %2").arg(sheet->width()).arg(sheet->height())));
    for (const QPushButton* each : sheet->findChildren<QPushButton*>())
        if (each->parentWidget() == sheet && each->isVisible())
            QVERIFY2(sheet->rect().contains(each->geometry()), qPrintable(each->text()));
    QTRY_COMPARE(clippedTexts(*sheet), QStringList()); // answers change texts meanwhile
    sheet->close();
}

/// A folder's name has no place at which a line could end.
void TestNodesPage::aDialogIsAsWideAsALongPath() {
    auto* sheet = new Sheet("Delete", {}, "pathDialog", &m_demo->window());
    QLabel* text = makeText({}, "bodySecondary");
    sheet->content()->addWidget(text);
    sheet->open();
    QVERIFY(QTest::qWaitForWindowExposed(sheet));
    const int usual = sheet->width();
    const auto folderOf = [text](int room) {
        return QString(room / text->fontMetrics().horizontalAdvance('m'), 'm');
    };
    const QString folder = folderOf(usual + 100);
    text->setText("Delete what lies in /srv/" + folder + "/checkpoints");
    QTRY_VERIFY(text->width() >= text->fontMetrics().horizontalAdvance(folder));
    QVERIFY(sheet->screen()->availableGeometry().contains(sheet->frameGeometry()));
    const int wide = sheet->width();
    text->setText("Delete what lies in /srv/" + folderOf(10'000));
    QTRY_VERIFY(sheet->width() > wide);
    QVERIFY(sheet->screen()->availableGeometry().contains(sheet->frameGeometry()));
    sheet->close();
}

void TestNodesPage::aDialogKeepsTheSizeOfAPersonUntilItSaysMore() {
    for (const char* name : {"one", "two"})
        QVERIFY(m_demo->fleet().add({name, false, "255.255.255.255", "me", 0, {}}));
    click("testLinks");
    auto* sheet = find<QDialog>("linkTestDialog");
    QVERIFY(QTest::qWaitForWindowExposed(sheet));
    const QSize own = sheet->size();
    const QSize drawn(own.width() - 100, own.height() - 40);
    sheet->windowHandle()->resize(drawn);
    QTRY_COMPARE(sheet->size(), drawn);
    QEvent layout(QEvent::LayoutRequest);
    QCoreApplication::sendEvent(sheet, &layout);
    QCOMPARE(sheet->size(), drawn);
    QCOMPARE(clippedTexts(*sheet), QStringList());
    find<QLabel>("linkTestText")->setText(QString("a long text ").repeated(60));
    QTRY_VERIFY(sheet->height() > own.height()); // so that it can be read
}

/// Of the group that is chosen, first of the newest test; its rate stands beside the one before.
void TestNodesPage::whatEachSizeOfSumsTookIsShown() {
    LinkTest test{wallNowNs() - 60'000'000'000, {}, {"CPU, 1 thread", {}, {}}};
    for (const char* name : {"one", "two", "three"})
        test.nodes.push_back({name, "ens5", 10'000, 1});
    test.report.groups = {{{0, 1}, 2, {{4, 2e-4, 100}, {1 << 20, 2e-3, 9}, {64 << 20, 0.06, 3}}},
                          {{0, 2}, 2, {{4, 3e-4, 100}, {1 << 20, 8e-3, 9}}}};
    LinkTest before = test;
    before.wallNs -= 1'000'000'000;
    before.report.groups = {{{0, 1}, 2, {{64 << 20, 0.12, 3}}}};
    const QString file = m_demo->paths().state + '/' + kLinkTestsFile;
    for (const LinkTest& each : {before, test})
        QVERIFY(keepLinkTest(file.toStdString(), toJson(each)));
    QVERIFY(m_demo->fleet().add({"one", false, "255.255.255.255", "me", 0, {}}));
    click("testLinks");
    auto* links = find<QTableView>("linkTestTable");
    const auto* sizes = find<QTableView>("linkSizesTable");
    QVERIFY(sizes->isVisible());
    const auto shown = [sizes] {
        QStringList lines;
        for (int row = 0; row < sizes->model()->rowCount(); ++row)
            lines << sizes->model()->index(row, 0).data().toString() + ": " +
                         sizes->model()->index(row, 1).data().toString() + ", " +
                         sizes->model()->index(row, 2).data().toString();
        return lines;
    };
    QCOMPARE(shown(), (QStringList{"4 bytes: 0.2 ms, 160 kbit/s", "1 MiB: 2 ms, 4.19 Gbit/s",
                                   "64 MiB: 60 ms, 8.95 Gbit/s"}));
    QCOMPARE(links->model()->index(0, 3).data().toString(),
             QString("8.95 of 10 Gbit/s, was 4.47 Gbit/s"));
    links->selectRow(1);
    QCOMPARE(shown(), (QStringList{"4 bytes: 0.3 ms, 107 kbit/s", "1 MiB: 8 ms, 1.05 Gbit/s"}));
    click("closeLinkTest");
}

void TestNodesPage::aFleetOfOneHasNoNetwork() {
    QVERIFY(!find<QWidget>("networkCard")->isVisible());
    QVERIFY(m_demo->fleet().add({"box", false, "box.example", "me", 0, {}}));
    QTRY_VERIFY(find<QWidget>("networkCard")->isVisible());
}

void TestNodesPage::theNetworkIsMeasuredAndANodeThatIsGoneIsNamed() {
    QVERIFY(m_demo->fleet().add({"gone", false, "no-such-machine.invalid", "me", 0, {}}));
    click("measureNetwork");
    QVERIFY(find<QPushButton>("cancelNetwork")->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>("networkText")->text().contains("gone took no part: "),
                             kAnswerMs);
    QVERIFY(find<QPushButton>("measureNetwork")->isVisible());
    QVERIFY(keptNetwork(m_demo->paths().state.toStdString()));
}

void TestNodesPage::whatWasMeasuredLastIsShownInCells() {
    NetworkMatrix matrix =
        example::wholeNetwork({example::networkNode("node-a", {example::at("ens5", "10.0.0.5")}),
                               example::networkNode("node-b", {example::at("ens5", "10.0.0.6")})});
    example::setAnswer(matrix, 1, "10.0.0.5", example::answered(Reach::kDropped, "ens5"));
    QVERIFY(keepNetwork(m_demo->paths().state.toStdString(), matrix));
    for (const char* name : {"node-a", "node-b", "node-x"})
        QVERIFY(m_demo->fleet().add({name, false, "node.example", "me", 0, {}}));
    const auto* cells = find<QAbstractItemView>("networkTable")->model();
    QTRY_COMPARE(cells->rowCount(), 2);
    QCOMPARE(cells->index(0, 2).data().toString(), QString("ens5 0.1 ms"));
    QCOMPARE(cells->index(1, 1).data().toString(), QString("dropped"));
    QCOMPARE(cells->index(1, 1).data(Qt::AccessibleTextRole).toString(),
             QString("from node-b to node-a: dropped"));
    QVERIFY(cells->index(1, 1).data(Qt::ToolTipRole).toString().contains("35000 dropped"));
    const QString words = find<QLabel>("networkText")->text();
    QVERIFY2(words.contains("node-b cannot reach node-a"), qPrintable(words));
    // It is read anew with the page, and drawn anew if another process has measured.
    QSignalSpy drawn(cells, &QAbstractItemModel::modelReset);
    const auto comeBack = [this] {
        m_demo->window().showRuns();
        m_demo->window().showNodes();
    };
    comeBack();
    matrix.measuredNs += 1'000'000'000;
    matrix.nodes[1].name = "node-x";
    QVERIFY(keepNetwork(m_demo->paths().state.toStdString(), matrix));
    comeBack();
    QTRY_COMPARE(cells->index(1, 0).data().toString(), QString("node-x"));
    QCOMPARE(drawn.count(), 1);
}

/// While the card is shown, too.
void TestNodesPage::theNetworkIsOfNodesInTheListAndOfWhatWasMeasuredLast() {
    const std::string folder = m_demo->paths().state.toStdString();
    const auto network = [](const std::vector<std::string>& names, int64_t laterNs) {
        std::vector<NetworkNode> nodes;
        for (const std::string& name : names)
            nodes.push_back(example::networkNode(name, {example::at("ens5", "10.0.0.5")}));
        NetworkMatrix matrix = example::wholeNetwork(std::move(nodes));
        matrix.measuredNs += laterNs;
        return matrix;
    };
    QVERIFY(keepNetwork(folder, network({"node-a", "node-b", "node-c"}, 0)));
    std::vector<Node> nodes;
    for (const char* name : {"node-a", "node-b", "node-c", "node-d"})
        nodes.push_back({name, false, "node.example", "me", 0, {}});
    QVERIFY(m_demo->fleet().addAll(nodes));
    const auto* cells = find<QAbstractItemView>("networkTable")->model();
    QTRY_COMPARE(cells->rowCount(), 3);
    QVERIFY(m_demo->fleet().remove("node-b"));
    QTRY_COMPARE(cells->rowCount(), 2);
    QCOMPARE(cells->index(1, 0).data().toString(), QString("node-c"));
    QVERIFY(keepNetwork(folder, network({"node-a", "node-d"}, 1)));
    QTRY_COMPARE_WITH_TIMEOUT(cells->index(1, 0).data().toString(), QString("node-d"), kAnswerMs);
    QVERIFY(m_demo->fleet().remove("node-d"));
    QTRY_VERIFY(find<QLabel>("networkText")->text().startsWith("Not measured yet"));
    QCOMPARE(find<QPushButton>("measureNetwork")->text(), QString("Measure"));
}

/// Not with a laptop that they cannot reach, and not with a login node on which nothing runs.
void TestNodesPage::theNetworkIsMeasuredBetweenTheOthers() {
    Node cluster{"cluster", false, "login.invalid", "me", 0, {}};
    cluster.isSlurm = true;
    QVERIFY(m_demo->fleet().add(cluster));
    QVERIFY(!find<QWidget>("networkCard")->isVisible()); // this computer alone is left
    std::vector<Node> others;
    for (const char* name : {"one", "three", "two"})
        others.push_back({name, false, "255.255.255.255", "me", 0, {}}); // refused by the kernel
    QVERIFY(m_demo->fleet().addAll(others));
    auto* which = find<QComboBox>("networkWhich");
    QCOMPARE(which->currentText(), QString("All other nodes"));
    const auto measured = [this] {
        std::vector<std::string> names;
        if (const auto kept = keptNetwork(m_demo->paths().state.toStdString()))
            for (const NetworkNode& node : kept->nodes)
                names.push_back(node.name);
        return names;
    };
    using Names = std::vector<std::string>;
    click("measureNetwork");
    QVERIFY2(find<QLabel>("networkProblem")->text().startsWith("Measuring between 3 nodes"),
             qPrintable(find<QLabel>("networkProblem")->text()));
    QTRY_VERIFY_WITH_TIMEOUT(measured() == (Names{"one", "three", "two"}), kAnswerMs);
    which->setCurrentText("This computer, too");
    click("measureNetwork");
    QTRY_VERIFY_WITH_TIMEOUT(measured() == (Names{"one", "three", "two", kLocalNodeName}),
                             kAnswerMs);
    for (Node& node : others)
        if (node.name != "three") {
            node.groups = {"lab"};
            QVERIFY(m_demo->fleet().change(node));
        }
    which->setCurrentText("@lab");
    click("measureNetwork");
    QTRY_VERIFY_WITH_TIMEOUT(measured() == (Names{"one", "two"}), kAnswerMs);
}

void TestNodesPage::aMeasurementTellsHowFarItIsAndIsStopped() {
    const SilentPort silent;
    QVERIFY(silent.port() > 0);
    QVERIFY(m_demo->fleet().add({"box", false, "127.0.0.1", "me", silent.port(), {}}));
    const auto* problem = find<QLabel>("networkProblem");
    click("measureNetwork");
    QTRY_COMPARE(problem->text(),
                 QString("Measuring between 2 nodes. Log in to the nodes: waiting for box."));
    click("cancelNetwork");
    QTRY_VERIFY2(problem->text().endsWith("measure the network: cancelled"),
                 qPrintable(problem->text()));
    QVERIFY(find<QPushButton>("measureNetwork")->isVisible());
    QVERIFY(!keptNetwork(m_demo->paths().state.toStdString()));
}

QTEST_MAIN(TestNodesPage)
#include "tst_nodes_page.moc"
