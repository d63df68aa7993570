// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/host.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QTest>

using namespace rm;
using namespace std::chrono_literals;

/// A link that is cut without a word, while something on a node is waited for.
class tst_silent_links : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cutLinkIsNoticedWhileANodeWorks_data();
    void cutLinkIsNoticedWhileANodeWorks();
    void nodeThatWorksLongIsWaitedFor_data() { cutLinkIsNoticedWhileANodeWorks_data(); }
    void nodeThatWorksLongIsWaitedFor();
    void cleanupTestCase() { m_bed.reset(); }

private:
    std::unique_ptr<HostSession> open(const std::string& host);

    std::unique_ptr<Testbed> m_bed;
};

void tst_silent_links::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("silent", {.seeded = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto acting = m_bed->actAsLaptop();
    QVERIFY2(acting, acting ? "" : acting.error().message.c_str());
    const QString folder = QFileInfo(m_bed->laptop().knownHosts()).path();
    QFile config(folder + "/config");
    QVERIFY(config.open(QIODevice::WriteOnly));
    // The same node, by itself and by way of an ssh that passes it on.
    const QString address = NetworkLab::managementAddress(0);
    const QString port = QString::number(m_bed->server(0).port());
    const QString key = m_bed->path("id_ed25519");
    config.write(("Host direct behind\n  HostName " + address + "\n  Port " + port +
                  "\n  User root\n  IdentityFile " + key +
                  "\nHost behind\n  ProxyCommand ssh -o BatchMode=yes -o UserKnownHostsFile=" +
                  m_bed->laptop().knownHosts() + " -i " + key + " -p " + port + " -W %h:%p root@" +
                  address + '\n')
                     .toUtf8());
}

std::unique_ptr<HostSession> tst_silent_links::open(const std::string& host) {
    Node node;
    node.name = "node-x";
    node.sshHost = host;
    auto opened = openSession(node, {}, {});
    if (!opened)
        qWarning("%s", opened.error().error.message.c_str());
    return opened ? std::move(*opened) : nullptr;
}

void tst_silent_links::cutLinkIsNoticedWhileANodeWorks_data() {
    QTest::addColumn<QString>("host");
    QTest::newRow("direct") << "direct";
    QTest::newRow("through a proxy") << "behind";
}

void tst_silent_links::cutLinkIsNoticedWhileANodeWorks() {
    QFETCH(QString, host);
    const auto session = open(host.toStdString());
    QVERIFY(session);
    auto process = session->start("sleep", {"600"});
    QVERIFY(process);
    const auto begun = (*process)->read(1000ms); // the login shell is through with its files
    QVERIFY(begun && !begun->ended);
    QVERIFY(m_bed->lab().setManagementLink(0, false));
    QElapsedTimer waited;
    waited.start();
    const auto heard = (*process)->read(600s);
    QVERIFY(m_bed->lab().setManagementLink(0, true));
    QVERIFY(!heard);
    QCOMPARE(heard.error().code, ErrorCode::kUnavailable);
    const QByteArray said = QByteArray::fromStdString(heard.error().message);
    QVERIFY2(said.contains("run sleep on ssh root@") && said.contains("silent") &&
                 said.contains("check that"),
             said);
    QVERIFY2(waited.elapsed() < 40'000, qPrintable(QString::number(waited.elapsed())));
    m_bed->server(0).cutSessions();
    m_bed->lab().killAllOn(0);
    QVERIFY(m_bed->server(0).restart());
}

void tst_silent_links::nodeThatWorksLongIsWaitedFor() {
    QFETCH(QString, host);
    const auto session = open(host.toStdString());
    QVERIFY(session);
    const auto ran = runToEnd(*session, "sleep", {"20"}, {}, 600s);
    QVERIFY2(ran, ran ? "" : ran.error().message.c_str());
}

QTEST_GUILESS_MAIN(tst_silent_links)
#include "tst_silent_links.moc"
