// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/node_check.h"
#include "app/core/remote/command_line.h"
#include "app/core/remote/error_tail.h"
#include "app/core/remote/host.h"

#include <QElapsedTimer>
#include <QTest>

#include <thread>

using namespace rm;
using namespace std::chrono_literals;

class LocalSessionTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void outputAndExitCodeComeBack();
    void inputLargerThanBothPipesGoesThrough();
    void stderrIsCappedAndStripped();
    void wakerWakesARead();
    void readTimesOut();
    void destructionHangsUp();
    void killedProgramIsUnavailable();
    void missingProgramIsAnError();
    void programThatDoesNotReadSaysWhy();
    void exitCodesBecomeErrorCodes_data();
    void exitCodesBecomeErrorCodes();
    void floodOfOutputIsCapped();
    void stopEndsARun();
    void unsafeWordsAreRefused_data();
    void unsafeWordsAreRefused();
    void hostileNodesAreRefused_data();
    void hostileNodesAreRefused();
    void escapesAreStripped_data();
    void escapesAreStripped();
};

namespace {

std::unique_ptr<HostSession> session() {
    auto opened = openSession(localNode(), {}, {});
    return opened ? std::move(*opened) : nullptr;
}

std::string readAll(HostProcess& process) {
    std::string text;
    for (;;) {
        const auto bytes = process.read(10s);
        if (!bytes || bytes->ended || bytes->data.empty())
            return text;
        text.append(reinterpret_cast<const char*>(bytes->data.data()), bytes->data.size());
    }
}

} // namespace

void LocalSessionTest::outputAndExitCodeComeBack() {
    auto local = session();
    auto process = local->startScript("echo hello; echo trouble >&2; exit 7");
    QVERIFY(process);
    QCOMPARE(readAll(**process), std::string("hello\n"));
    QCOMPARE((*process)->exitCode(10s).value_or(-1), 7);
    QCOMPARE((*process)->errorText(), std::string("trouble\n"));
}

void LocalSessionTest::inputLargerThanBothPipesGoesThrough() {
    auto local = session();
    const std::string big(8 << 20, 'x');
    const auto echoed = runToEnd(*local, "cat", {}, big, 20s);
    QVERIFY2(echoed, echoed ? "" : echoed.error().message.c_str());
    QVERIFY(*echoed == big);
}

void LocalSessionTest::stderrIsCappedAndStripped() {
    auto local = session();
    auto process =
        local->startScript("head -c 300000 /dev/zero | tr '\\0' a >&2; printf '\\033[31mred' >&2");
    QVERIFY(process);
    readAll(**process);
    QCOMPARE((*process)->exitCode(10s).value_or(-1), 0);
    const std::string text = (*process)->errorText();
    QVERIFY(text.size() <= ErrorTail::kKeep);
    QVERIFY(text.ends_with("ared"));
}

void LocalSessionTest::wakerWakesARead() {
    auto local = session();
    auto process = local->start("cat", {});
    QVERIFY(process);
    Waker waker;
    QElapsedTimer timer;
    timer.start();
    std::jthread other([&waker] { waker.wake(); });
    const auto bytes = (*process)->read(30s, &waker);
    QVERIFY(bytes && bytes->data.empty() && !bytes->ended);
    QVERIFY(timer.elapsed() < 5000);
    other.join();
    waker.clear();
    QVERIFY((*process)->read(0s, &waker)->data.empty());
}

void LocalSessionTest::readTimesOut() {
    auto local = session();
    auto process = local->start("cat", {});
    const auto bytes = (*process)->read(20ms);
    QVERIFY(bytes && bytes->data.empty() && !bytes->ended);
}

void LocalSessionTest::destructionHangsUp() {
    auto local = session();
    auto process = local->startScript("echo $$; exec cat");
    QVERIFY(process);
    const auto bytes = (*process)->read(10s);
    QVERIFY(bytes && !bytes->data.empty());
    const std::string pid(reinterpret_cast<const char*>(bytes->data.data()),
                          bytes->data.size() - 1);
    const QString folder = "/proc/" + QString::fromStdString(pid);
    process->reset();
    const auto isGone = [&folder] {
        QFile status(folder + "/stat");
        return !status.open(QIODevice::ReadOnly) || status.readAll().contains(") Z ");
    };
    QTRY_VERIFY(isGone());
}

void LocalSessionTest::killedProgramIsUnavailable() {
    auto local = session();
    auto process = local->startScript("kill -9 $$");
    readAll(**process);
    const auto code = (*process)->exitCode(10s);
    QVERIFY(!code);
    QCOMPARE(code.error().code, ErrorCode::kUnavailable);
    QVERIFY(code.error().message.find("signal 9") != std::string::npos);
}

void LocalSessionTest::missingProgramIsAnError() {
    auto local = session();
    const auto output = runToEnd(*local, "/nonexistent/program", {}, {}, 5s);
    QVERIFY(!output);
    QCOMPARE(output.error().code, ErrorCode::kNotFound);
}

void LocalSessionTest::programThatDoesNotReadSaysWhy() {
    auto local = session();
    const auto output = runToEnd(*local, "ls", {"/nonexistent"}, std::string(1 << 20, 'x'), 10s);
    QVERIFY(!output);
    QVERIFY(output.error().message.find("/nonexistent") != std::string::npos);
}

void LocalSessionTest::exitCodesBecomeErrorCodes_data() {
    QTest::addColumn<QString>("exit");
    QTest::addColumn<int>("code");
    const auto row = [](const char* exit, ErrorCode code) {
        QTest::newRow(errorCodeName(code)) << exit << static_cast<int>(code);
    };
    row("1", ErrorCode::kInternal);
    row("2", ErrorCode::kInvalid);
    row("3", ErrorCode::kNotFound);
    row("5", ErrorCode::kDenied);
    row("7", ErrorCode::kTooNew);
    row("8", ErrorCode::kExhausted);
}

void LocalSessionTest::exitCodesBecomeErrorCodes() {
    QFETCH(QString, exit);
    QFETCH(int, code);
    QTemporaryDir folder;
    QFile script(folder.filePath("fails"));
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write("#!/bin/sh\necho first >&2\necho the cause >&2\nexit " + exit.toLatin1() + '\n');
    script.close();
    script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    auto local = session();
    const auto output = runToEnd(*local, script.fileName().toStdString(), {}, {}, 10s);
    QVERIFY(!output);
    QCOMPARE(static_cast<int>(output.error().code), code);
    QVERIFY(output.error().message.ends_with("this computer: the cause"));
}

void LocalSessionTest::floodOfOutputIsCapped() {
    auto local = session();
    const auto output = runToEnd(*local, "cat", {"/dev/zero"}, {}, 20s);
    QVERIFY(!output);
    QCOMPARE(output.error().code, ErrorCode::kExhausted);
}

void LocalSessionTest::stopEndsARun() {
    auto local = session();
    std::stop_source source;
    std::jthread other([&source] { source.request_stop(); });
    QElapsedTimer timer;
    timer.start();
    const auto output = runToEnd(*local, "sleep", {"60"}, {}, 60s, source.get_token());
    QVERIFY(!output);
    QVERIFY(output.error().message.find("cancelled") != std::string::npos);
    QVERIFY(timer.elapsed() < 10000);
}

void LocalSessionTest::unsafeWordsAreRefused_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<QString>("argument");
    QTest::newRow("semicolon") << "ls"
                               << "a;b";
    QTest::newRow("substitution") << "ls"
                                  << "$(id)";
    QTest::newRow("space") << "ls"
                           << "a b";
    QTest::newRow("newline") << "ls"
                             << "a\nb";
    QTest::newRow("glob") << "ls"
                          << "*";
    QTest::newRow("empty") << "ls"
                           << "";
    QTest::newRow("assignment") << "LD_PRELOAD=x"
                                << "a";
    QTest::newRow("program with space") << "my ls"
                                        << "a";
    QTest::newRow("option as program") << "-c"
                                       << "a";
}

void LocalSessionTest::unsafeWordsAreRefused() {
    QFETCH(QString, program);
    QFETCH(QString, argument);
    const auto line = commandLine(program.toStdString(), {argument.toStdString()});
    QVERIFY(!line);
    QCOMPARE(line.error().code, ErrorCode::kInvalid);
}

void LocalSessionTest::hostileNodesAreRefused_data() {
    QTest::addColumn<QString>("host");
    QTest::addColumn<QString>("user");
    QTest::newRow("option") << "-oProxyCommand=id"
                            << "me";
    QTest::newRow("shell") << "a;id"
                           << "me";
    QTest::newRow("backtick") << "`id`"
                              << "me";
    QTest::newRow("space") << "a b"
                           << "me";
    QTest::newRow("empty") << ""
                           << "me";
    QTest::newRow("user option") << "host"
                                 << "-l";
    QTest::newRow("user shell") << "host"
                                << "$(id)";
    QTest::newRow("user in host") << "root@host"
                                  << "";
}

void LocalSessionTest::hostileNodesAreRefused() {
    QFETCH(QString, host);
    QFETCH(QString, user);
    Node node;
    node.name = "n";
    node.sshHost = host.toStdString();
    node.user = user.toStdString();
    const auto opened = openSession(node, {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().error.code, ErrorCode::kInvalid);
}

void LocalSessionTest::escapesAreStripped_data() {
    QTest::addColumn<QByteArray>("raw");
    QTest::addColumn<QByteArray>("clean");
    QTest::newRow("colour") << QByteArray("\x1b[1;31mred\x1b[0m") << QByteArray("red");
    QTest::newRow("title") << QByteArray("\x1b]0;evil\x07ok") << QByteArray("ok");
    QTest::newRow("title by ST") << QByteArray("\x1b]0;evil\x1b\\ok") << QByteArray("ok");
    QTest::newRow("carriage return") << QByteArray("a\rb") << QByteArray("ab");
    QTest::newRow("torn") << QByteArray("a\x1b[3") << QByteArray("a");
    QTest::newRow("lone escape") << QByteArray("a\x1b") << QByteArray("a");
    QTest::newRow("lines stay") << QByteArray("a\n\tb") << QByteArray("a\n\tb");
    QTest::newRow("utf-8 stays") << QByteArray("gr\xc3\xbcn") << QByteArray("gr\xc3\xbcn");
}

void LocalSessionTest::escapesAreStripped() {
    QFETCH(QByteArray, raw);
    QFETCH(QByteArray, clean);
    QCOMPARE(QByteArray::fromStdString(withoutEscapes(raw.toStdString())), clean);
}

QTEST_GUILESS_MAIN(LocalSessionTest)
#include "tst_local_session.moc"
