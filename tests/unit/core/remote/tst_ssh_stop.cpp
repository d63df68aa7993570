// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/host.h"
#include "shared/io/file.h"
#include "tests/support/requirement.h"
#include "tests/support/sshd.h"

#include <QElapsedTimer>
#include <QTest>

#include <csignal>
#include <thread>

using namespace rm;
using namespace std::chrono_literals;

namespace {

constexpr int kAtOnceMs = 1000;

QList<pid_t> childrenOf(pid_t parent) {
    QList<pid_t> pids;
    QFile file(QString("/proc/%1/task/%1/children").arg(parent));
    if (file.open(QIODevice::ReadOnly))
        for (const QByteArray& pid : file.readAll().split(' '))
            if (!pid.trimmed().isEmpty())
                pids << pid.toInt() << childrenOf(pid.toInt());
    return pids;
}

QByteArray messageOf(const Error& error) {
    return QByteArray::fromStdString(error.message);
}

} // namespace

/// A host that logged us in and then stands still: what waits for it ends with a stop, at once.
class SshStopTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();

    void aProgramThatDoesNotStartIsGivenUp();
    void aProgramThatDoesNotReadIsGivenUp();
    void aProgramThatDoesNotEndIsGivenUp();
    void aServerThatStandsStillIsNoticed();

private:
    void freeze();
    /// What `wait` answers while another thread requests the stop.
    template <class Wait>
    auto stoppedWhile(Wait wait) {
        m_timer.start();
        const std::jthread other([this] { m_stop.request_stop(); });
        return wait();
    }

    QTemporaryDir m_home;
    QString m_publicKey;
    std::unique_ptr<SshServer> m_server;
    std::unique_ptr<HostSession> m_session;
    QList<pid_t> m_frozen;
    std::stop_source m_stop;
    QElapsedTimer m_timer; ///< since the stop
};

void SshStopTest::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    qputenv("HOME", m_home.path().toUtf8());
    qunsetenv("SSH_AUTH_SOCK");
    QVERIFY(QDir(m_home.path()).mkpath(".ssh"));
    const auto key = makeSshKey(m_home.filePath(".ssh/id_ed25519"));
    QVERIFY(key);
    m_publicKey = *key;
}

void SshStopTest::init() {
    auto server = SshServer::start({.authorizedKey = m_publicKey});
    QVERIFY2(server, server ? "" : server.error().message.c_str());
    m_server = std::move(*server);
    QVERIFY(writeFileAtomically(m_home.filePath(".ssh/known_hosts").toStdString(),
                                m_server->knownHostsLine().toStdString() + '\n'));
    Node node;
    node.name = "node-a";
    node.sshHost = "127.0.0.1";
    node.port = m_server->port();
    auto opened = openSession(node, {}, {});
    QVERIFY2(opened, opened ? "" : opened.error().error.message.c_str());
    m_session = std::move(*opened);
    m_stop = {};
}

void SshStopTest::cleanup() {
    for (const pid_t pid : m_frozen)
        ::kill(pid, SIGCONT);
    m_frozen.clear();
    m_session.reset();
}

void SshStopTest::freeze() {
    m_frozen = childrenOf(m_server->pid());
    QVERIFY(!m_frozen.isEmpty());
    for (const pid_t pid : m_frozen)
        ::kill(pid, SIGSTOP);
}

void SshStopTest::aProgramThatDoesNotStartIsGivenUp() {
    freeze();
    const auto process =
        stoppedWhile([this] { return m_session->start("true", {}, m_stop.get_token()); });
    QVERIFY2(m_timer.elapsed() < kAtOnceMs, qPrintable(QString::number(m_timer.elapsed())));
    QVERIFY(!process);
    QVERIFY2(messageOf(process.error()).endsWith("cancelled"), messageOf(process.error()));
}

void SshStopTest::aProgramThatDoesNotReadIsGivenUp() {
    auto process = m_session->start("cat", {}, m_stop.get_token());
    QVERIFY(process);
    freeze();
    const std::string much(64 << 20, 'x');
    const auto written =
        stoppedWhile([&] { return (*process)->write(std::as_bytes(std::span(much))); });
    QVERIFY2(m_timer.elapsed() < kAtOnceMs, qPrintable(QString::number(m_timer.elapsed())));
    QVERIFY(!written);
    QVERIFY2(messageOf(written.error()).endsWith("cancelled"), messageOf(written.error()));
}

void SshStopTest::aProgramThatDoesNotEndIsGivenUp() {
    auto process = m_session->start("cat", {}, m_stop.get_token());
    QVERIFY(process);
    const auto code = stoppedWhile([&] { return (*process)->exitCode(30s); });
    QVERIFY2(m_timer.elapsed() < kAtOnceMs, qPrintable(QString::number(m_timer.elapsed())));
    QVERIFY(!code);
    QVERIFY2(messageOf(code.error()).endsWith("cancelled"), messageOf(code.error()));
}

/// Nobody stops it, and the limit of the program is far.
void SshStopTest::aServerThatStandsStillIsNoticed() {
    auto process = m_session->start("cat", {}, m_stop.get_token());
    QVERIFY(process);
    const auto begun = (*process)->read(500ms);
    QVERIFY(begun && !begun->ended);
    freeze();
    m_timer.start();
    const auto heard = (*process)->read(600s);
    QVERIFY(!heard);
    QVERIFY2(messageOf(heard.error()).contains("the connection went silent"),
             messageOf(heard.error()));
    QVERIFY2(m_timer.elapsed() < 40'000, qPrintable(QString::number(m_timer.elapsed())));
}

QTEST_GUILESS_MAIN(SshStopTest)
#include "tst_ssh_stop.moc"
