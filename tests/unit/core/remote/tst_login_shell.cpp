// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/io/file.h"
#include "tests/support/requirement.h"
#include "tests/support/ssh_home.h"
#include "tests/unit/core/remote/session_text.h"

#include <QDir>
#include <QElapsedTimer>
#include <QTest>

using namespace rm;
using namespace std::chrono_literals;

/// Programs started through a login shell whose ~/.bashrc does more than it should, on a real
/// OpenSSH server.
class LoginShellTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();

    void whatStartupFilesPrintIsSkipped_data();
    void whatStartupFilesPrintIsSkipped();
    void programHasItsOwnComplaint();
    void endlessBannerIsABoundedError_data();
    void endlessBannerIsABoundedError();
    void shellThatEndsEarlySaysWhatItSaid();
    void shellThatWaitsIsGivenUp_data();
    void shellThatWaitsIsGivenUp();
    void shellThatWaitsIsEnded();
    void everyShellStartsScripts_data();
    void everyShellStartsScripts();

private:
    /// A session whose programs are started behind this ~/.bashrc.
    std::unique_ptr<HostSession> behind(const QString& bashrc);
    bool wasRead() const { return QFile::exists(m_home.server().home() + "/bashrc-was-read"); }

    mutable SshHome m_home;
};

void LoginShellTest::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    const auto served =
        m_home.prepare()
            .and_then([this] { return m_home.serve({.authorizedKey = m_home.publicKey()}); })
            .and_then([this] { return m_home.know(); });
    QVERIFY2(served, served ? "" : served.error().message.c_str());
}

std::unique_ptr<HostSession> LoginShellTest::behind(const QString& bashrc) {
    QFile file(m_home.server().home() + "/.bashrc");
    if (!file.open(QIODevice::WriteOnly))
        return nullptr;
    file.write(("touch \"$HOME/bashrc-was-read\"\n" + bashrc + '\n').toUtf8());
    file.close();
    QFile::remove(m_home.server().home() + "/bashrc-was-read");
    auto opened = openSession(m_home.node("node-a"), {}, {});
    return opened ? std::move(*opened) : nullptr;
}

void LoginShellTest::whatStartupFilesPrintIsSkipped_data() {
    QTest::addColumn<QString>("bashrc");
    QTest::newRow("nothing") << "";
    QTest::newRow("a line on both streams") << "echo '=== WELCOME ==='; echo careful >&2";
    QTest::newRow("no end of line") << "printf 'hello '; printf '\\033]0;title\\007' >&2";
    QTest::newRow("many lines") << "for i in $(seq 1000); do echo a line of a long message; done";
    QTest::newRow("its own commands") << "set -xv";
    QTest::newRow("another folder") << "cd /tmp; echo now in $PWD";
    QTest::newRow("a line on exit") << "trap 'echo goodbye' EXIT";
    QTest::newRow("a wait for input") << "read -r -t 1 answer";
}

void LoginShellTest::whatStartupFilesPrintIsSkipped() {
    QFETCH(QString, bashrc);
    const auto session = behind(bashrc);
    QVERIFY(session);
    const std::string input = "first\nringmaster\nlast";
    const auto echoed = runToEnd(*session, "cat", {}, input, 30s);
    QVERIFY2(echoed, echoed ? "" : echoed.error().message.c_str());
    QVERIFY(wasRead());
    QCOMPARE(*echoed, input);
    auto script = session->startScript("read -r line; echo \"got $line\"; echo no >&2; exit 3");
    QVERIFY(script);
    QVERIFY((*script)->write(std::as_bytes(std::span("word\n", 5))));
    QCOMPARE(readAll(**script), std::string("got word\n"));
    QCOMPARE((*script)->exitCode(10s).value_or(-1), 3);
    QVERIFY2((*script)->errorText().ends_with("no\n"), (*script)->errorText().c_str());
    QVERIFY((*script)->errorText().find("careful") == std::string::npos);
}

void LoginShellTest::programHasItsOwnComplaint() {
    const auto session = behind("echo careful >&2");
    QVERIFY(session);
    const auto missing = runToEnd(*session, "/no/such/program", {}, {}, 30s);
    QVERIFY(!missing);
    QVERIFY2(missing.error().message.find("/no/such/program: not found") != std::string::npos,
             missing.error().message.c_str());
    const auto silent = runToEnd(*session, "false", {}, {}, 30s);
    QVERIFY(!silent);
    QVERIFY2(silent.error().message.find("exit code 1") != std::string::npos,
             silent.error().message.c_str());
}

void LoginShellTest::endlessBannerIsABoundedError_data() {
    QTest::addColumn<QString>("bashrc");
    QTest::newRow("stdout") << "while :; do echo a line of an endless message; done";
    QTest::newRow("stderr") << "while :; do echo a line of an endless message >&2; done";
    QTest::newRow("one line") << "while :; do printf 'word '; done";
}

void LoginShellTest::endlessBannerIsABoundedError() {
    QFETCH(QString, bashrc);
    const auto session = behind(bashrc);
    QVERIFY(session);
    QElapsedTimer timer;
    timer.start();
    const auto ran = runToEnd(*session, "true", {}, {}, 60s);
    QVERIFY(!ran);
    QVERIFY(wasRead());
    QCOMPARE(ran.error().code, ErrorCode::kCorrupt);
    QVERIFY2(ran.error().message.find(".bashrc") != std::string::npos, ran.error().message.c_str());
    QVERIFY2(timer.elapsed() < 30000, qPrintable(QString::number(timer.elapsed())));
}

void LoginShellTest::shellThatEndsEarlySaysWhatItSaid() {
    const auto session = behind("echo 'this account has expired'; exit 1");
    QVERIFY(session);
    const auto ran = runToEnd(*session, "true", {}, {}, 60s);
    QVERIFY(!ran);
    QCOMPARE(ran.error().code, ErrorCode::kUnavailable);
    QVERIFY2(ran.error().message.find("this account has expired") != std::string::npos,
             ran.error().message.c_str());
}

void LoginShellTest::shellThatWaitsIsGivenUp_data() {
    QTest::addColumn<QString>("bashrc");
    QTest::newRow("for nothing") << "echo 'Press a key'; sleep 300";
    // It would take what the program is to read.
    QTest::newRow("for input") << "echo 'Press a key'; cat >/dev/null";
}

void LoginShellTest::shellThatWaitsIsGivenUp() {
    QFETCH(QString, bashrc);
    const auto session = behind(bashrc);
    QVERIFY(session);
    QElapsedTimer timer;
    timer.start();
    const auto ran = runToEnd(*session, "cat", {}, "an order", 60s);
    QVERIFY(!ran);
    QVERIFY2(ran.error().message.find(".bashrc) may wait for something") != std::string::npos,
             ran.error().message.c_str());
    QVERIFY2(ran.error().message.find("Press a key") != std::string::npos,
             ran.error().message.c_str());
    QVERIFY2(timer.elapsed() < 40000, qPrintable(QString::number(timer.elapsed())));
}

namespace {

constexpr int kTrainer = 12345; ///< its user id

int processesOf(int user) {
    int count = 0;
    for (const QFileInfo& process : QDir("/proc").entryInfoList({"[0-9]*"}, QDir::Dirs))
        count += process.ownerId() == static_cast<uint>(user) &&
                         !readFile(process.filePath().toStdString() + "/cmdline")
                              .value_or("")
                              .starts_with("sshd")
                     ? 1
                     : 0;
    return count;
}

} // namespace

/// sshd ends what a login started if it is asked to, which it does not do for root.
void LoginShellTest::shellThatWaitsIsEnded() {
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    const QTemporaryDir home("/tmp/ringmaster-trainer-XXXXXX");
    const QString keys = home.filePath("keys");
    QVERIFY(writeFileAtomically(keys.toStdString(), m_home.publicKey().toStdString() + '\n'));
    QVERIFY(writeFileAtomically(home.filePath(".bashrc").toStdString(), "sleep 300\nsleep 300\n"));
    for (const QString& path : {home.path(), keys, home.filePath(".bashrc")})
        QVERIFY(QFile::setPermissions(path, QFile::Permissions(0x7755)));
    const QByteArray account =
        QStringLiteral("trainer:x:%1:%1::%2:/bin/bash\n").arg(kTrainer).arg(home.path()).toUtf8();
    QFile passwd("/etc/passwd");
    QVERIFY(passwd.open(QIODevice::ReadOnly));
    QVERIFY(m_home.serve({.home = home.path(),
                          .settings = {"AuthorizedKeysFile " + keys},
                          .files = {{"/etc/passwd", passwd.readAll() + account}}}));
    QVERIFY(m_home.know());
    Node node = m_home.node("node-a");
    node.user = "trainer";
    const auto opened = openSession(node, {}, {});
    QVERIFY2(opened, messageOf(opened) + m_home.server().log().toUtf8());
    std::stop_source stop;
    {
        auto process = (*opened)->start("true", {}, stop.get_token());
        QVERIFY(process);
        QTRY_VERIFY(processesOf(kTrainer) >= 2); // the shell and its sleep
    }
    QTRY_COMPARE_WITH_TIMEOUT(processesOf(kTrainer), 0, 20'000);
}

void LoginShellTest::everyShellStartsScripts_data() {
    QTest::addColumn<QByteArray>("shell");
    for (const char* shell : {"/bin/sh", "/bin/bash", "/bin/tcsh"})
        QTest::newRow(shell) << QByteArray(shell);
}

/// A script has lines, and what a shell may read something into; a program may lie in any folder.
void LoginShellTest::everyShellStartsScripts() {
    QFETCH(QByteArray, shell);
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    RM_NEEDS("tcsh", QFile::exists(shell), QString(shell) + " is not installed");
    QVERIFY(m_home.serve(
        {.authorizedKey = m_home.publicKey(), .files = {passwdOfRoot("/root", shell)}}));
    QVERIFY(m_home.know());
    const auto session = openSession(m_home.node("node-a"), {}, {});
    QVERIFY2(session, messageOf(session));
    const std::string script =
        "read -r line\nfor word in $line; do\n  echo \"$word!\"\ndone\n"
        "echo it\\'s \\\\ 'a  b' ${HOME:+set} 100% *.no\necho ende\xc3\xa4\n";
    auto started = (*session)->startScript(script);
    QVERIFY2(started, started ? "" : started.error().message.c_str());
    QVERIFY((*started)->write(std::as_bytes(std::span("one two\n", 8))));
    QCOMPARE(readAll(**started),
             std::string("one!\ntwo!\nit's \\ a  b set 100% *.no\nende\xc3\xa4\n"));
    QCOMPARE((*started)->exitCode(10s).value_or(-1), 0);

    const QString folder = m_home.path("It's \xc3\xa4 home! $(id) `id`");
    QFile::remove(folder + "/print env");
    QVERIFY(QDir().mkpath(folder) && QFile::copy("/usr/bin/printenv", folder + "/print env"));
    const auto printed =
        runToEnd(**session, (folder + "/print env").toStdString(), {"SHELL"}, {}, 30s);
    QVERIFY2(printed, printed ? "" : printed.error().message.c_str());
    QCOMPARE(*printed, shell.toStdString() + '\n');
}

QTEST_GUILESS_MAIN(LoginShellTest)
#include "tst_login_shell.moc"
