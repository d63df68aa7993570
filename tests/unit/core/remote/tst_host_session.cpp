// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/error_tail.h"
#include "tests/support/requirement.h"
#include "tests/support/ssh_home.h"
#include "tests/support/task_state.h"
#include "tests/unit/core/remote/session_text.h"

#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <thread>

using namespace rm;
using namespace std::chrono_literals;

/// What every HostSession promises, of this computer's and of one over a real OpenSSH server.
class HostSessionTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase_data();
    void initTestCase();
    void init();
    void cleanup() { m_session.reset(); }

    void outputAndExitCodeComeBack();
    void inputLargerThanAllBuffersCrosses();
    void stderrIsCappedAndStripped();
    void scriptReadsItsInput();
    void severalProgramsRunAtOnce();
    void threadsShareIt();
    void aShortTalkDoesNotWaitForALongOne();
    void readTimesOut();
    void wakerWakesARead();
    void destructionHangsUp();
    void killedProgramIsUnavailable();
    void programThatDoesNotReadSaysWhy();
    void exitCodesBecomeErrorCodes_data();
    void exitCodesBecomeErrorCodes();
    void floodOfOutputIsCapped();
    void stopEndsARun();

private:
    SshHome m_home;
    Result<void> m_served;
    std::unique_ptr<HostSession> m_session;
};

void HostSessionTest::initTestCase_data() {
    QTest::addColumn<bool>("overSsh");
    QTest::newRow("this computer") << false;
    QTest::newRow("ssh") << true;
}

void HostSessionTest::initTestCase() {
    m_served = m_home.prepare()
                   .and_then([this] { return m_home.serve({.authorizedKey = m_home.publicKey()}); })
                   .and_then([this] { return m_home.know(); });
}

void HostSessionTest::init() {
    QFETCH_GLOBAL(bool, overSsh);
    if (overSsh) {
        const auto can = canRunSshd();
        RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
        QVERIFY2(m_served, m_served ? "" : m_served.error().message.c_str());
    }
    auto opened = openSession(overSsh ? m_home.node("node-a") : localNode(), {}, {});
    QVERIFY2(opened, messageOf(opened));
    m_session = std::move(*opened);
}

void HostSessionTest::outputAndExitCodeComeBack() {
    auto process = m_session->startScript("echo hello; echo trouble >&2; exit 7");
    QVERIFY(process);
    QCOMPARE(readAll(**process), std::string("hello\n"));
    QCOMPARE((*process)->exitCode(10s).value_or(-1), 7);
    QCOMPARE((*process)->errorText(), std::string("trouble\n"));
}

void HostSessionTest::inputLargerThanAllBuffersCrosses() {
    std::string big(12 << 20, '\0');
    for (size_t at = 0; at < big.size(); ++at)
        big[at] = static_cast<char>(at * 2654435761u >> 24);
    const auto echoed = runToEnd(*m_session, "cat", {}, big, 60s);
    QVERIFY2(echoed, echoed ? "" : echoed.error().message.c_str());
    QVERIFY(*echoed == big);
}

void HostSessionTest::stderrIsCappedAndStripped() {
    auto process = m_session->startScript(
        "head -c 300000 /dev/zero | tr \"\\0\" a >&2; printf \"\\033[31mred\" >&2");
    QVERIFY(process);
    readAll(**process);
    QCOMPARE((*process)->exitCode(10s).value_or(-1), 0);
    const std::string text = (*process)->errorText();
    QVERIFY(text.size() <= ErrorTail::kKeep);
    QVERIFY(text.ends_with("ared"));
}

void HostSessionTest::scriptReadsItsInput() {
    auto process = m_session->startScript("read -r line; echo \"[$line]\"; cat | wc -c");
    QVERIFY(process);
    const std::string input = "head\n12345";
    QVERIFY((*process)->write(std::as_bytes(std::span(input))));
    QVERIFY((*process)->closeWrite());
    QCOMPARE(readAll(**process), std::string("[head]\n5\n"));
}

void HostSessionTest::severalProgramsRunAtOnce() {
    auto first = m_session->start("cat", {});
    QVERIFY(first);
    QCOMPARE(runToEnd(*m_session, "echo", {"two"}, {}, 10s).value_or(""), std::string("two\n"));
    const std::string text = "one";
    QVERIFY((*first)->write(std::as_bytes(std::span(text))));
    QVERIFY((*first)->closeWrite());
    QCOMPARE(readAll(**first), text);
}

void HostSessionTest::threadsShareIt() {
    constexpr int kThreads = 4;
    std::vector<Result<std::string>> echoed(kThreads);
    std::vector<std::string> sent;
    for (int i = 0; i < kThreads; ++i)
        sent.emplace_back(1 << 20, static_cast<char>('a' + i));
    {
        std::vector<std::jthread> threads;
        for (size_t i = 0; i < kThreads; ++i)
            threads.emplace_back([&, i] {
                for (int again = 0; again < 3 && (again == 0 || echoed[i] == sent[i]); ++again)
                    echoed[i] = runToEnd(*m_session, "cat", {}, sent[i], 60s);
            });
    }
    for (size_t i = 0; i < kThreads; ++i) {
        QVERIFY2(echoed[i], echoed[i] ? "" : echoed[i].error().message.c_str());
        QVERIFY(*echoed[i] == sent[i]);
    }
}

/// One thread writes without end, and another asks and is answered meanwhile.
void HostSessionTest::aShortTalkDoesNotWaitForALongOne() {
    Result<void> written;
    std::atomic<bool> isOver = false;
    std::jthread writer([&](std::stop_token stop) {
        auto sink = m_session->startScript("exec cat >/dev/null");
        const std::vector<std::byte> piece(1 << 20);
        while (sink && written && !stop.stop_requested())
            written = (*sink)->write(piece);
        if (!sink)
            written = tl::unexpected(sink.error());
        isOver = true;
    });
    auto echo = m_session->start("cat", {});
    QVERIFY(echo);
    for (int i = 0; i < 50; ++i) {
        const std::string requested = std::to_string(i);
        QVERIFY((*echo)->write(std::as_bytes(std::span(requested))));
        const auto answer = (*echo)->read(20s);
        QVERIFY(answer);
        QCOMPARE(answer->data.size(), requested.size());
    }
    QVERIFY(!isOver);
    writer.request_stop();
    writer.join();
    QVERIFY2(written, written ? "" : written.error().message.c_str());
}

void HostSessionTest::readTimesOut() {
    auto process = m_session->start("cat", {});
    QVERIFY(process);
    const auto bytes = (*process)->read(20ms);
    QVERIFY(bytes && bytes->data.empty() && !bytes->ended);
}

void HostSessionTest::wakerWakesARead() {
    auto process = m_session->start("cat", {});
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

void HostSessionTest::destructionHangsUp() {
    auto process = m_session->startScript("echo $$; exec cat");
    QVERIFY(process);
    const auto bytes = (*process)->read(10s);
    QVERIFY(bytes && !bytes->data.empty());
    const pid_t pid = std::stoi(
        std::string(reinterpret_cast<const char*>(bytes->data.data()), bytes->data.size() - 1));
    process->reset();
    QTRY_VERIFY(isGone(pid));
}

void HostSessionTest::killedProgramIsUnavailable() {
    auto process = m_session->startScript("kill -9 $$");
    QVERIFY(process);
    readAll(**process);
    const auto code = (*process)->exitCode(10s);
    QVERIFY(!code);
    QCOMPARE(code.error().code, ErrorCode::kUnavailable);
    const QByteArray said = QByteArray::fromStdString(code.error().message);
    QVERIFY2(said.contains("signal 9") || said.contains("KILL"), said);
    const QTemporaryDir folder;
    QFile program(folder.filePath("ends-itself"));
    QVERIFY(program.open(QIODevice::WriteOnly));
    program.write("#!/bin/sh\nkill -9 $$\n");
    program.close();
    QVERIFY(program.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
    const auto output = runToEnd(*m_session, program.fileName().toStdString(), {}, {}, 10s);
    QVERIFY(!output);
    const QByteArray whole = QByteArray::fromStdString(output.error().message);
    QVERIFY2(whole.startsWith("run ") && whole.count("ends-itself on ") == 1, whole);
}

void HostSessionTest::programThatDoesNotReadSaysWhy() {
    const auto output =
        runToEnd(*m_session, "ls", {"/nonexistent"}, std::string(1 << 20, 'x'), 10s);
    QVERIFY(!output);
    QVERIFY2(output.error().message.find("/nonexistent") != std::string::npos,
             output.error().message.c_str());
}

void HostSessionTest::exitCodesBecomeErrorCodes_data() {
    QTest::addColumn<QByteArray>("exit");
    QTest::addColumn<int>("code");
    const auto row = [](const char* exit, ErrorCode code) {
        QTest::newRow(errorCodeName(code)) << QByteArray(exit) << static_cast<int>(code);
    };
    row("1", ErrorCode::kInternal);
    row("2", ErrorCode::kInvalid);
    row("3", ErrorCode::kNotFound);
    row("5", ErrorCode::kDenied);
    row("7", ErrorCode::kTooNew);
    row("8", ErrorCode::kExhausted);
}

void HostSessionTest::exitCodesBecomeErrorCodes() {
    QFETCH(QByteArray, exit);
    QFETCH(int, code);
    QFile script(m_home.path("fails-with-" + exit));
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write("#!/bin/sh\necho first >&2\necho the cause >&2\nexit " + exit + '\n');
    script.close();
    script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    const auto output = runToEnd(*m_session, script.fileName().toStdString(), {}, {}, 10s);
    QVERIFY(!output);
    QCOMPARE(static_cast<int>(output.error().code), code);
    QVERIFY2(output.error().message.ends_with(m_session->where() + ": the cause"),
             output.error().message.c_str());
}

void HostSessionTest::floodOfOutputIsCapped() {
    const auto output = runToEnd(*m_session, "cat", {"/dev/zero"}, {}, 60s);
    QVERIFY(!output);
    QCOMPARE(output.error().code, ErrorCode::kExhausted);
    const auto after = runToEnd(*m_session, "true", {}, {}, 10s);
    QVERIFY2(after, after ? "" : after.error().message.c_str()); // the session is still good
}

void HostSessionTest::stopEndsARun() {
    std::stop_source source;
    std::jthread other([&source] { source.request_stop(); });
    QElapsedTimer timer;
    timer.start();
    const auto output = runToEnd(*m_session, "sleep", {"60"}, {}, 60s, source.get_token());
    QVERIFY(!output);
    QVERIFY(output.error().message.find("cancelled") != std::string::npos);
    QVERIFY(timer.elapsed() < 10000);
}

QTEST_GUILESS_MAIN(HostSessionTest)
#include "tst_host_session.moc"
