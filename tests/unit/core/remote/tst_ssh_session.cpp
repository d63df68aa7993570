// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/io/file.h"
#include "tests/support/requirement.h"
#include "tests/support/ssh_home.h"
#include "tests/unit/core/remote/session_text.h"

#include <QElapsedTimer>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTest>

#include <thread>

using namespace rm;
using namespace std::chrono_literals;

/// Against a real OpenSSH server on loopback. HOME is a folder of the test's own.
class SshSessionTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();

    void knownHostIsEnteredByKey();
    void aliasOfSshConfigIsResolved();
    void unknownKeyAsksFirst();
    void onlyTheExactFingerprintIsTrusted();
    void changedKeyIsRefusedBeforeAnyAuthentication();
    void keyOfAnotherTypeIsRefused();
    void closedPortIsUnavailable();
    void silentServerIsGivenUp();
    void wrongBannerIsUnavailable();
    void stopEndsAConnect();
    void serverWithoutGcmIsRefused();

    void cutLinkIsUnavailable();

private:
    Node node() const { return m_home.node("node-a"); }
    std::unique_ptr<HostSession> open();

    SshHome m_home;
};

std::unique_ptr<HostSession> SshSessionTest::open() {
    auto opened = openSession(node(), {}, {});
    if (!opened)
        qWarning("%s\n%s", messageOf(opened).constData(), qPrintable(m_home.server().log()));
    return opened ? std::move(*opened) : nullptr;
}

void SshSessionTest::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    const auto prepared = m_home.prepare();
    QVERIFY2(prepared, prepared ? "" : prepared.error().message.c_str());
}

void SshSessionTest::init() {
    const auto served = m_home.serve({.authorizedKey = m_home.publicKey()});
    QVERIFY2(served, served ? "" : served.error().message.c_str());
    QFile::remove(m_home.path(".ssh/config"));
    QVERIFY(m_home.know());
}

void SshSessionTest::knownHostIsEnteredByKey() {
    QElapsedTimer timer;
    timer.start();
    auto session = open();
    QVERIFY(session);
    QVERIFY2(timer.elapsed() < 3000, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(session->where().starts_with("ssh "));
    const auto home = runToEnd(*session, "printenv", {"HOME"}, {}, 10s);
    QVERIFY2(home, home ? "" : home.error().message.c_str());
    QCOMPARE(QString::fromStdString(*home), m_home.server().home() + '\n');
}

void SshSessionTest::aliasOfSshConfigIsResolved() {
    QVERIFY(m_home.write("config", QStringLiteral("Host gpu-box\n  HostName 127.0.0.1\n  Port %1\n")
                                       .arg(m_home.server().port())));
    Node alias;
    alias.name = "gpu";
    alias.sshHost = "gpu-box";
    const auto opened = openSession(alias, {}, {});
    QVERIFY2(opened, messageOf(opened));
}

void SshSessionTest::unknownKeyAsksFirst() {
    QVERIFY(m_home.write("known_hosts", {}));
    const auto opened = openSession(node(), {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, ConnectFailure::Need::kTrustHostKey);
    QCOMPARE(QString::fromStdString(opened.error().fingerprint), m_home.server().fingerprint());
    QTRY_VERIFY(m_home.server().log().contains("Connection closed"));
    QVERIFY(!m_home.server().log().contains("userauth-request"));
}

void SshSessionTest::onlyTheExactFingerprintIsTrusted() {
    QVERIFY(QFile::remove(m_home.path(".ssh/known_hosts")));
    Credentials wrong;
    wrong.trustedFingerprint = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const auto refused = openSession(node(), wrong, {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().need, ConnectFailure::Need::kTrustHostKey);
    QVERIFY(!QFile::exists(m_home.path(".ssh/known_hosts")));
    Credentials right;
    right.trustedFingerprint = m_home.server().fingerprint().toStdString();
    const auto trusted = openSession(node(), right, {});
    QVERIFY2(trusted, messageOf(trusted));
    QVERIFY(open()); // known from now on
}

void SshSessionTest::changedKeyIsRefusedBeforeAnyAuthentication() {
    const QString before = m_home.server().fingerprint();
    QVERIFY(m_home.server().changeHostKey());
    Credentials eager;
    eager.trustedFingerprint = m_home.server().fingerprint().toStdString();
    eager.password = "secret";
    const auto opened = openSession(node(), eager, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, ConnectFailure::Need::kNothing);
    QCOMPARE(opened.error().error.code, ErrorCode::kDenied);
    for (const QString& word :
         {before, m_home.server().fingerprint(), m_home.path(".ssh/known_hosts") + " line 1",
          QStringLiteral("ssh-keygen -R")})
        QVERIFY2(messageOf(opened).contains(word.toUtf8()), messageOf(opened));
    QTRY_VERIFY(m_home.server().log().contains("Connection closed"));
    QVERIFY(!m_home.server().log().contains("userauth-request"));
}

void SshSessionTest::keyOfAnotherTypeIsRefused() {
    QProcess keygen;
    keygen.start("ssh-keygen", {"-q", "-t", "ecdsa", "-N", "", "-f", m_home.path("other")});
    QVERIFY(keygen.waitForFinished());
    const auto other = readFile(m_home.path("other.pub").toStdString());
    QVERIFY(other);
    QVERIFY(m_home.write("known_hosts", m_home.server().knownHostsLine().section(' ', 0, 0) + ' ' +
                                            QString::fromStdString(*other)));
    const auto opened = openSession(node(), {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, ConnectFailure::Need::kNothing);
    QVERIFY(!m_home.server().log().contains("userauth-request"));
}

void SshSessionTest::closedPortIsUnavailable() {
    const Node there = node();
    m_home.server().stop();
    const auto opened = openSession(there, {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().error.code, ErrorCode::kUnavailable);
    QVERIFY2(messageOf(opened).contains("refused"), messageOf(opened));
}

void SshSessionTest::silentServerIsGivenUp() {
    QTcpServer silent;
    QVERIFY(silent.listen(QHostAddress::LocalHost));
    Node there = node();
    there.port = silent.serverPort();
    QElapsedTimer timer;
    timer.start();
    const auto opened = openSession(there, {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().error.code, ErrorCode::kUnavailable);
    QVERIFY(timer.elapsed() < 13000);
}

void SshSessionTest::wrongBannerIsUnavailable() {
    QTcpServer web;
    QVERIFY(web.listen(QHostAddress::LocalHost));
    std::jthread talker([port = web.serverPort(), this] {
        Node there = node();
        there.port = port;
        const auto opened = openSession(there, {}, {});
        QVERIFY(!opened);
        QCOMPARE(opened.error().error.code, ErrorCode::kUnavailable);
    });
    QVERIFY(web.waitForNewConnection(5000));
    QTcpSocket* peer = web.nextPendingConnection();
    peer->write("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer->waitForBytesWritten();
    peer->disconnectFromHost();
}

void SshSessionTest::stopEndsAConnect() {
    QTcpServer silent;
    QVERIFY(silent.listen(QHostAddress::LocalHost));
    Node there = node();
    there.port = silent.serverPort();
    std::stop_source source;
    std::jthread other([&source] { source.request_stop(); });
    QElapsedTimer timer;
    timer.start();
    const auto opened = openSession(there, {}, source.get_token());
    QVERIFY(!opened);
    QVERIFY(timer.elapsed() < 3000);
}

void SshSessionTest::serverWithoutGcmIsRefused() {
    QVERIFY(m_home.serve({.authorizedKey = m_home.publicKey(),
                          .settings = {"Ciphers chacha20-poly1305@openssh.com"}}));
    QVERIFY(m_home.know());
    const auto opened = openSession(node(), {}, {});
    QVERIFY(!opened);
    QVERIFY2(messageOf(opened).contains("AES-GCM"), messageOf(opened));
}

void SshSessionTest::cutLinkIsUnavailable() {
    auto session = open();
    auto process = session->startScript("echo up; exec cat");
    QVERIFY(process);
    QVERIFY((*process)->read(10s));
    m_home.server().cutSessions();
    QElapsedTimer timer;
    timer.start();
    auto bytes = (*process)->read(10s);
    QVERIFY(!bytes);
    QCOMPARE(bytes.error().code, ErrorCode::kUnavailable);
    QVERIFY(timer.elapsed() < 5000);
    QVERIFY(!session->start("true", {}));
}

QTEST_GUILESS_MAIN(SshSessionTest)
#include "tst_ssh_session.moc"
