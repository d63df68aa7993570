// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/host.h"
#include "shared/io/file.h"
#include "tests/support/requirement.h"
#include "tests/support/sshd.h"

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
    void wrongPasswordIsClear();
    void passwordIsAskedForWhenNoKeyFits();
    void hostThatTakesOnlyKeysSaysSo();
    void closedPortIsUnavailable();
    void silentServerIsGivenUp();
    void wrongBannerIsUnavailable();
    void stopEndsAConnect();
    void serverWithoutGcmIsRefused();

    void exitCodeAndErrorsComeBack();
    void killedProgramIsUnavailable();
    void bigInputAndOutputCross();
    void outputFloodIsCapped();
    void wakerWakesARead();
    void destructionHangsUp();
    void cutLinkIsUnavailable();
    void severalProgramsShareALink();
    void scriptReadsItsInput();

private:
    Node node() const;
    void know(const QString& line);
    std::unique_ptr<HostSession> open();

    QTemporaryDir m_home;
    QString m_publicKey;
    std::unique_ptr<SshServer> m_server;
};

namespace {

using Opened = tl::expected<std::unique_ptr<HostSession>, ConnectFailure>;

QByteArray messageOf(const Opened& opened) {
    return opened ? QByteArray("connected")
                  : QByteArray::fromStdString(opened.error().error.message);
}

std::string readAll(HostProcess& process) {
    std::string text;
    for (;;) {
        const auto bytes = process.read(20s);
        if (!bytes || bytes->ended || bytes->data.empty())
            return text;
        text.append(reinterpret_cast<const char*>(bytes->data.data()), bytes->data.size());
    }
}

} // namespace

Node SshSessionTest::node() const {
    Node node;
    node.name = "node-a";
    node.sshHost = "127.0.0.1";
    node.port = m_server->port();
    return node;
}

void SshSessionTest::know(const QString& line) {
    QVERIFY(writeFileAtomically(m_home.filePath(".ssh/known_hosts").toStdString(),
                                line.toStdString() + '\n'));
}

std::unique_ptr<HostSession> SshSessionTest::open() {
    auto opened = openSession(node(), {}, {});
    if (!opened)
        qWarning("%s\n%s", messageOf(opened).constData(), qPrintable(m_server->log()));
    return opened ? std::move(*opened) : nullptr;
}

void SshSessionTest::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    qputenv("HOME", m_home.path().toUtf8());
    qunsetenv("SSH_AUTH_SOCK");
    QVERIFY(QDir(m_home.path()).mkpath(".ssh"));
    const auto key = makeSshKey(m_home.filePath(".ssh/id_ed25519"));
    QVERIFY2(key, key ? "" : key.error().message.c_str());
    m_publicKey = *key;
}

void SshSessionTest::init() {
    auto server = SshServer::start({.authorizedKey = m_publicKey});
    QVERIFY2(server, server ? "" : server.error().message.c_str());
    m_server = std::move(*server);
    QFile::remove(m_home.filePath(".ssh/config"));
    know(m_server->knownHostsLine());
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
    QCOMPARE(QString::fromStdString(*home), m_server->home() + '\n');
}

void SshSessionTest::aliasOfSshConfigIsResolved() {
    const QString config =
        QStringLiteral("Host gpu-box\n  HostName 127.0.0.1\n  Port %1\n").arg(m_server->port());
    QVERIFY(
        writeFileAtomically(m_home.filePath(".ssh/config").toStdString(), config.toStdString()));
    Node node;
    node.name = "gpu";
    node.sshHost = "gpu-box";
    const auto opened = openSession(node, {}, {});
    QVERIFY2(opened, messageOf(opened));
}

void SshSessionTest::unknownKeyAsksFirst() {
    know("");
    const auto opened = openSession(node(), {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, ConnectFailure::Need::kTrustHostKey);
    QCOMPARE(QString::fromStdString(opened.error().fingerprint), m_server->fingerprint());
    QTRY_VERIFY(m_server->log().contains("Connection closed"));
    QVERIFY(!m_server->log().contains("userauth-request"));
}

void SshSessionTest::onlyTheExactFingerprintIsTrusted() {
    QVERIFY(QFile::remove(m_home.filePath(".ssh/known_hosts")));
    Credentials wrong;
    wrong.trustedFingerprint = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const auto refused = openSession(node(), wrong, {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().need, ConnectFailure::Need::kTrustHostKey);
    QVERIFY(!QFile::exists(m_home.filePath(".ssh/known_hosts")));
    Credentials right;
    right.trustedFingerprint = m_server->fingerprint().toStdString();
    const auto trusted = openSession(node(), right, {});
    QVERIFY2(trusted, messageOf(trusted));
    QVERIFY(open()); // known from now on
}

void SshSessionTest::changedKeyIsRefusedBeforeAnyAuthentication() {
    const QString before = m_server->fingerprint();
    QVERIFY(m_server->changeHostKey());
    Credentials eager;
    eager.trustedFingerprint = m_server->fingerprint().toStdString();
    eager.password = "secret";
    const auto opened = openSession(node(), eager, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, ConnectFailure::Need::kNothing);
    QCOMPARE(opened.error().error.code, ErrorCode::kDenied);
    for (const QString& word :
         {before, m_server->fingerprint(), m_home.filePath(".ssh/known_hosts") + " line 1",
          QStringLiteral("ssh-keygen -R")})
        QVERIFY2(messageOf(opened).contains(word.toUtf8()), messageOf(opened));
    QTRY_VERIFY(m_server->log().contains("Connection closed"));
    QVERIFY(!m_server->log().contains("userauth-request"));
}

void SshSessionTest::keyOfAnotherTypeIsRefused() {
    QProcess keygen;
    keygen.start("ssh-keygen", {"-q", "-t", "ecdsa", "-N", "", "-f", m_home.filePath("other")});
    QVERIFY(keygen.waitForFinished());
    const auto other = readFile(m_home.filePath("other.pub").toStdString());
    QVERIFY(other);
    know(m_server->knownHostsLine().section(' ', 0, 0) + ' ' + QString::fromStdString(*other));
    const auto opened = openSession(node(), {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, ConnectFailure::Need::kNothing);
    QVERIFY(!m_server->log().contains("userauth-request"));
}

void SshSessionTest::wrongPasswordIsClear() {
    auto server = SshServer::start({}); // no key opens it
    QVERIFY(server);
    m_server = std::move(*server);
    know(m_server->knownHostsLine());
    Credentials credentials;
    credentials.password = "certainly not it";
    const auto opened = openSession(node(), credentials, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, ConnectFailure::Need::kPassword);
    QCOMPARE(opened.error().error.code, ErrorCode::kDenied);
    QVERIFY2(messageOf(opened).contains("wrong password"), messageOf(opened));
    QVERIFY(!messageOf(opened).contains("certainly"));
}

void SshSessionTest::passwordIsAskedForWhenNoKeyFits() {
    auto server = SshServer::start({});
    QVERIFY(server);
    m_server = std::move(*server);
    know(m_server->knownHostsLine());
    const auto opened = openSession(node(), {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, ConnectFailure::Need::kPassword);
    QVERIFY2(messageOf(opened).contains("key files"), messageOf(opened));
}

void SshSessionTest::hostThatTakesOnlyKeysSaysSo() {
    auto server = SshServer::start({.settings = {"PasswordAuthentication no"}});
    QVERIFY(server);
    m_server = std::move(*server);
    know(m_server->knownHostsLine());
    const auto opened = openSession(node(), {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().need, ConnectFailure::Need::kNothing);
    QVERIFY2(messageOf(opened).contains("ssh-copy-id"), messageOf(opened));
}

void SshSessionTest::closedPortIsUnavailable() {
    const Node there = node();
    m_server->stop();
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
    auto server = SshServer::start(
        {.authorizedKey = m_publicKey, .settings = {"Ciphers chacha20-poly1305@openssh.com"}});
    QVERIFY(server);
    m_server = std::move(*server);
    know(m_server->knownHostsLine());
    const auto opened = openSession(node(), {}, {});
    QVERIFY(!opened);
    QVERIFY2(messageOf(opened).contains("AES-GCM"), messageOf(opened));
}

void SshSessionTest::exitCodeAndErrorsComeBack() {
    auto session = open();
    auto process = session->startScript("echo out; printf \"\\033[1mtrouble\" >&2; exit 7");
    QVERIFY(process);
    QCOMPARE(readAll(**process), std::string("out\n"));
    QCOMPARE((*process)->exitCode(10s).value_or(-1), 7);
    QCOMPARE(QByteArray::fromStdString((*process)->errorText()), QByteArray("trouble"));
}

void SshSessionTest::killedProgramIsUnavailable() {
    auto session = open();
    auto process = session->startScript("kill -9 $$");
    QVERIFY(process);
    readAll(**process);
    const auto code = (*process)->exitCode(10s);
    QVERIFY(!code);
    QVERIFY2(code.error().message.find("KILL") != std::string::npos, code.error().message.c_str());
}

void SshSessionTest::bigInputAndOutputCross() {
    auto session = open();
    std::string big(12 << 20, '\0');
    for (size_t at = 0; at < big.size(); ++at)
        big[at] = static_cast<char>(at * 2654435761u >> 24);
    const auto echoed = runToEnd(*session, "cat", {}, big, 60s);
    QVERIFY2(echoed, echoed ? "" : echoed.error().message.c_str());
    QVERIFY(*echoed == big);
}

void SshSessionTest::outputFloodIsCapped() {
    auto session = open();
    const auto output = runToEnd(*session, "cat", {"/dev/zero"}, {}, 60s);
    QVERIFY(!output);
    QCOMPARE(output.error().code, ErrorCode::kExhausted);
    const auto after = runToEnd(*session, "true", {}, {}, 10s);
    QVERIFY2(after, after ? "" : after.error().message.c_str()); // the link is still good
}

void SshSessionTest::wakerWakesARead() {
    auto session = open();
    auto process = session->start("cat", {});
    QVERIFY(process);
    Waker waker;
    QElapsedTimer timer;
    timer.start();
    std::jthread other([&waker] { waker.wake(); });
    const auto bytes = (*process)->read(30s, &waker);
    QVERIFY(bytes && bytes->data.empty() && !bytes->ended);
    QVERIFY(timer.elapsed() < 2000);
}

void SshSessionTest::destructionHangsUp() {
    auto session = open();
    auto process = session->startScript("echo $$; exec cat");
    QVERIFY(process);
    const auto bytes = (*process)->read(10s);
    QVERIFY(bytes && !bytes->data.empty());
    const std::string pid(reinterpret_cast<const char*>(bytes->data.data()),
                          bytes->data.size() - 1);
    process->reset();
    QTRY_VERIFY(!QFile::exists("/proc/" + QString::fromStdString(pid)));
}

void SshSessionTest::cutLinkIsUnavailable() {
    auto session = open();
    auto process = session->startScript("echo up; exec cat");
    QVERIFY(process);
    QVERIFY((*process)->read(10s));
    m_server->cutSessions();
    QElapsedTimer timer;
    timer.start();
    auto bytes = (*process)->read(10s);
    QVERIFY(!bytes);
    QCOMPARE(bytes.error().code, ErrorCode::kUnavailable);
    QVERIFY(timer.elapsed() < 5000);
    QVERIFY(!session->start("true", {}));
}

void SshSessionTest::severalProgramsShareALink() {
    auto session = open();
    auto first = session->start("cat", {});
    QVERIFY(first);
    QCOMPARE(runToEnd(*session, "echo", {"two"}, {}, 10s).value_or(""), std::string("two\n"));
    const std::string text = "one";
    QVERIFY((*first)->write(std::as_bytes(std::span(text))));
    QVERIFY((*first)->closeWrite());
    QCOMPARE(readAll(**first), text);
}

void SshSessionTest::scriptReadsItsInput() {
    auto session = open();
    auto process = session->startScript("read -r line; echo \"[$line]\"; cat | wc -c");
    QVERIFY(process);
    const std::string input = "head\n12345";
    QVERIFY((*process)->write(std::as_bytes(std::span(input))));
    QVERIFY((*process)->closeWrite());
    QCOMPARE(readAll(**process), std::string("[head]\n5\n"));
}

QTEST_GUILESS_MAIN(SshSessionTest)
#include "tst_ssh_session.moc"
