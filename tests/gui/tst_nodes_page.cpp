// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/network/network_file.h"
#include "app/ui/nodes/nodes_page.h"
#include "shared/io/file.h"
#include "tests/gui/support/window_fixture.h"
#include "tests/unit/core/network/network_examples.h"

#include <QAbstractItemView>
#include <QDialog>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

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
    void aNodeIsEditedUnderItsName();
    void aHostThatIsNoneIsCalledSo();
    void thisComputerIsNotEdited();
    void nodesAreCleanedAfterAPreview();
    void aFleetOfOneHasNoNetwork();
    void theNetworkIsMeasuredAndANodeThatIsGoneIsNamed();
    void whatWasMeasuredLastIsShownInCells();

private:
    template <class T>
    T* find(const char* name) const {
        return m_demo->window().findChild<T*>(name);
    }
    void click(const char* button) const;

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
    QTest::keyClicks(text, "99999");
    QVERIFY(port->value() <= 65535);
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

void TestNodesPage::aHostThatIsNoneIsCalledSo() {
    click("addNode");
    find<QLineEdit>("nodeHost")->setText("me@host");
    click("addNodeConfirm");
    const QString problem = find<QLabel>("addNodeProblem")->text();
    QVERIFY2(problem.contains("host 'me@host' may hold") && !problem.contains("a name is"),
             qPrintable(problem));
    // An address is no name, but nobody has typed it as one.
    find<QLineEdit>("nodeHost")->setText("fe80::1");
    click("addNodeConfirm");
    QCOMPARE(QString::fromStdString(m_demo->fleet().find("fe80--1").value_or(Node()).sshHost),
             QString("fe80::1"));
}

void TestNodesPage::thisComputerIsNotEdited() {
    m_demo->window().nodesPage().select(kLocalNodeName);
    QVERIFY(!find<QPushButton>("editNode")->isVisible());
}

void TestNodesPage::nodesAreCleanedAfterAPreview() {
    QTemporaryDir home;
    qputenv("RINGMASTER_HOME", home.path().toLocal8Bit());
    const auto reset = qScopeGuard([] { qunsetenv("RINGMASTER_HOME"); });
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
    QVERIFY(m_demo->fleet().add({"node-a", false, "node-a.example", "me", 0, {}}));
    const auto* cells = find<QAbstractItemView>("networkTable")->model();
    QTRY_COMPARE(cells->rowCount(), 2);
    QCOMPARE(cells->index(0, 2).data().toString(), QString("ens5 0.1 ms"));
    QCOMPARE(cells->index(1, 1).data().toString(), QString("dropped"));
    QCOMPARE(cells->index(1, 1).data(Qt::AccessibleTextRole).toString(),
             QString("from node-b to node-a: dropped"));
    QVERIFY(cells->index(1, 1).data(Qt::ToolTipRole).toString().contains("35000 dropped"));
    const QString words = find<QLabel>("networkText")->text();
    QVERIFY2(words.contains("node-b cannot reach node-a"), qPrintable(words));
}

QTEST_MAIN(TestNodesPage)
#include "tst_nodes_page.moc"
