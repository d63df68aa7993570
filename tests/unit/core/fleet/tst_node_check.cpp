// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/fleet.h"
#include "app/core/remote/credential_store.h"
#include "app/core/settings/paths.h"
#include "tests/support/requirement.h"
#include "tests/support/ssh_home.h"

#include <QDir>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTcpServer>
#include <QTest>

using namespace rm;

/// A person adds a node and looks at its check, with a real server and the agent as built.
class NodeCheckTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void thisComputerIsReady();
    void nodeIsTrustedOnceAndReadyThen();
    void changedKeyIsNoMatterOfChoice();
    void faultOfTheNetworkHasItsOwnTitle();
    void passwordThatFailsIsForgotten();
    void oldNodeIsNamedInItsRow();
    void checkOutlivesTheAppUntilTheNodeIsEdited();
    void fleetEndsInTheMiddleOfACheck();

private:
    NodeCheck checkOf(Fleet& fleet, const QString& name, const Credentials& credentials = {});
    void add(Fleet& fleet, int port);

    SshHome m_home;
};

namespace {

QByteArray words(const NodeCheck& check) {
    QByteArray text;
    for (const CheckRow& row : check.rows)
        text += QByteArray::fromStdString(row.title + ": " + row.evidence + '\n');
    return text;
}

} // namespace

void NodeCheckTest::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    QVERIFY2(QFile::exists(installPrefix() + "/bin/ringmaster-agent"), qPrintable(installPrefix()));
    QVERIFY(m_home.prepare());
}

void NodeCheckTest::init() {
    QFile::remove(m_home.path(".ssh/known_hosts"));
    QDir(m_home.path("config")).removeRecursively();
    QVERIFY(m_home.serve({.authorizedKey = m_home.publicKey()}));
}

void NodeCheckTest::add(Fleet& fleet, int port) {
    Node node;
    node.name = "node-a";
    node.sshHost = "127.0.0.1";
    node.port = port;
    QVERIFY(fleet.add(node));
}

NodeCheck NodeCheckTest::checkOf(Fleet& fleet, const QString& name,
                                 const Credentials& credentials) {
    const auto answer = fleet.check(name, credentials);
    if (!QTest::qWaitFor([&answer] { return answer.isFinished(); }, 30000))
        return {};
    return answer.result();
}

void NodeCheckTest::thisComputerIsReady() {
    Fleet fleet(m_home.path("config"));
    QSignalSpy changed(&fleet, &Fleet::checkChanged);
    const NodeCheck check = checkOf(fleet, kLocalNodeName);
    QVERIFY2(check.ready, words(check));
    QVERIFY(check.report && check.report->cores > 0);
    QCOMPARE(changed.count(), 2);
    QVERIFY(fleet.lastCheck(kLocalNodeName)->ready);
}

void NodeCheckTest::nodeIsTrustedOnceAndReadyThen() {
    Fleet fleet(m_home.path("config"));
    add(fleet, m_home.server().port());
    const NodeCheck first = checkOf(fleet, "node-a");
    QVERIFY(!first.ready && first.failure);
    QCOMPARE(first.failure->need, ConnectFailure::Need::kTrustHostKey);
    QCOMPARE(QString::fromStdString(first.failure->fingerprint), m_home.server().fingerprint());
    Credentials trust;
    trust.trustedFingerprint = first.failure->fingerprint;
    const NodeCheck second = checkOf(fleet, "node-a", trust);
    QVERIFY2(second.ready, words(second));
    QCOMPARE(second.rows.size(), size_t(14));
    QVERIFY(second.roundTripUs > 0 && second.roundTripUs < 1'000'000);
    QCOMPARE(QString::fromStdString(second.report->home),
             m_home.server().home() + "/data/ringmaster");
    QVERIFY(checkOf(fleet, "node-a").ready);
}

void NodeCheckTest::changedKeyIsNoMatterOfChoice() {
    Fleet fleet(m_home.path("config"));
    add(fleet, m_home.server().port());
    QVERIFY(m_home.know());
    QVERIFY(m_home.server().changeHostKey());
    const NodeCheck check = checkOf(fleet, "node-a");
    QVERIFY(check.failure);
    QCOMPARE(check.failure->need, ConnectFailure::Need::kNothing);
    QVERIFY(check.rows.front().state == CheckRow::State::kBad);
}

void NodeCheckTest::faultOfTheNetworkHasItsOwnTitle() {
    Fleet fleet(m_home.path("config"));
    add(fleet, m_home.server().port());
    const auto titleOf = [](const NodeCheck& check) {
        return check.rows.empty() ? QString() : QString::fromStdString(check.rows.front().title);
    };
    QCOMPARE(titleOf(checkOf(fleet, "node-a")), QString("Host key"));
    m_home.server().stop();
    const NodeCheck refused = checkOf(fleet, "node-a");
    QCOMPARE(titleOf(refused), QString("Connection refused"));
    QVERIFY(refused.failure);
    const std::string& why = refused.failure->error.message; // the same in other words says nothing
    QVERIFY2(why.find("nothing listens at that port") != why.npos, why.c_str());
    Node nameless;
    nameless.name = "node-b";
    nameless.sshHost = "no-such-machine.invalid";
    QVERIFY(fleet.add(nameless));
    QCOMPARE(titleOf(checkOf(fleet, "node-b")), QString("Name not found"));
}

void NodeCheckTest::passwordThatFailsIsForgotten() {
    QVERIFY(m_home.serve({}));
    Fleet fleet(m_home.path("config"));
    add(fleet, m_home.server().port());
    QVERIFY(m_home.know());
    fleet.credentials().grant(*fleet.find("node-a"), {"not it", {}, {}});
    const NodeCheck check = checkOf(fleet, "node-a");
    QVERIFY(check.failure);
    QVERIFY2(words(check).contains("wrong password"), words(check));
    QVERIFY(!fleet.credentials().lookUp(*fleet.find("node-a")).password);
}

void NodeCheckTest::oldNodeIsNamedInItsRow() {
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    QVERIFY(m_home.serve({.authorizedKey = m_home.publicKey(),
                          .files = {{"/usr/bin/getconf", "#!/bin/sh\necho glibc 2.31\n", true}}}));
    Fleet fleet(m_home.path("config"));
    add(fleet, m_home.server().port());
    Credentials trust;
    trust.trustedFingerprint = m_home.server().fingerprint().toStdString();
    const NodeCheck check = checkOf(fleet, "node-a", trust);
    QVERIFY(!check.ready && !check.failure);
    QVERIFY2(words(check).contains("node-a has glibc 2.31"), words(check));
}

void NodeCheckTest::checkOutlivesTheAppUntilTheNodeIsEdited() {
    const QString state = m_home.path("state");
    {
        Fleet fleet(m_home.path("config"), state);
        QVERIFY2(checkOf(fleet, kLocalNodeName).ready, "this computer");
    }
    Fleet next(m_home.path("config"), state);
    QVERIFY(next.load());
    QVERIFY(next.lastCheck(kLocalNodeName) && next.lastCheck(kLocalNodeName)->ready);
    QVERIFY(next.lastCheck(kLocalNodeName)->report->cores > 0);
    add(next, 1); // where nobody listens
    QVERIFY(!checkOf(next, "node-a").ready);
    Node moved = *next.find("node-a");
    moved.port = 2;
    QVERIFY(next.change(moved));
    QVERIFY(!next.lastCheck("node-a"));
    Fleet last(m_home.path("config"), state);
    QVERIFY(last.load());
    QVERIFY(!last.lastCheck("node-a"));
    QVERIFY(last.lastCheck(kLocalNodeName));
}

void NodeCheckTest::fleetEndsInTheMiddleOfACheck() {
    QTcpServer silent;
    QVERIFY(silent.listen(QHostAddress::LocalHost));
    QElapsedTimer timer;
    {
        Fleet fleet(m_home.path("config"));
        add(fleet, silent.serverPort());
        fleet.check("node-a");
        QVERIFY(silent.waitForNewConnection(5000));
        timer.start();
    }
    QVERIFY(timer.elapsed() < 2000);
}

QTEST_GUILESS_MAIN(NodeCheckTest)
#include "tst_node_check.moc"
