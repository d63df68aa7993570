// SPDX-License-Identifier: Apache-2.0
// `ringmaster-agent machine` on this machine, beside ranks that are small programs of the test.
#include "shared/exit_code.h"
#include "shared/wire/machine_sample.h"
#include "tests/unit/agent/agent_fixture.h"

#include <algorithm>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kPatienceMs = 30'000;

/// The next line; nullopt: none came, or one that is none.
std::optional<MachineLine> nextLine(QProcess& agent) {
    QElapsedTimer timer;
    timer.start();
    while (!agent.canReadLine() && timer.elapsed() < kPatienceMs &&
           agent.state() == QProcess::Running)
        agent.waitForReadyRead(100);
    const auto line = parseMachineLine(agent.readLine().trimmed().toStdString());
    return line ? std::optional(*line) : std::nullopt;
}

} // namespace

class TestAgentMachine : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void ranksAreNamedWithTheirRun() {
        AgentFixture f;
        f.script(0, "finish@1000000");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        const auto agent = f.spawn({"machine"});
        const auto findsRank = [&] {
            agent->write("200\n"); // and so is not silent
            const auto line = nextLine(*agent);
            const auto* sample = line ? std::get_if<MachineSample>(&*line) : nullptr;
            return sample && sample->processes &&
                   std::ranges::any_of(*sample->processes, [&f](const ProcessFigures& process) {
                       return process.pid == f.rankPid(0) && process.rank == 0 &&
                              process.runId == "r1" && process.runName == "fake";
                   });
        };
        QVERIFY(QTest::qWaitFor(findsRank, kPatienceMs));
        agent->closeWriteChannel();
        QVERIFY(agent->waitForFinished(kPatienceMs));
        QCOMPARE(agent->exitCode(), 0);
    }

    void aWorkingProcessIsSeen() {
        const AgentFixture f;
        QProcess busy;
        busy.start("sh", {"-c", "while :; do :; done"});
        QVERIFY(busy.waitForStarted());
        const auto agent = f.spawn({"machine"});
        const auto sees = [&] {
            agent->write("200\n");
            const auto line = nextLine(*agent);
            const auto* sample = line ? std::get_if<MachineSample>(&*line) : nullptr;
            return sample && sample->processes && sample->cpu.value_or(0) > 0 &&
                   std::ranges::any_of(*sample->processes, [&](const ProcessFigures& process) {
                       return process.pid == busy.processId() && process.cpu.value_or(0) > 0 &&
                              process.command.find("sh -c while") != std::string::npos;
                   });
        };
        QVERIFY(QTest::qWaitFor(sees, kPatienceMs));
        busy.kill();
        busy.waitForFinished();
        agent->closeWriteChannel();
        QVERIFY(agent->waitForFinished(kPatienceMs));
    }

    /// A link that is cut without a word leaves nothing on the node.
    void itEndsAfterSilence() {
        const AgentFixture f;
        const auto agent = f.spawn({"machine"});
        agent->write("1000\n");
        QVERIFY(nextLine(*agent));
        QVERIFY(agent->waitForFinished(kMachineSilenceMs + kPatienceMs));
        QCOMPARE(agent->exitCode(), static_cast<int>(ExitCode::kUnavailable));
        QVERIFY(agent->readAllStandardError().contains("nothing was heard"));
    }

    /// Not even where nobody takes what it prints.
    void itEndsThoughNobodyReads() {
        const AgentFixture f;
        QProcess shell; // which holds both pipes of the agent open, and reads neither
        shell.setProcessEnvironment(f.environment());
        shell.setWorkingDirectory(f.path(""));
        shell.start("sh", {"-c",
                           "mkfifo in out; exec 3<>in 4<>out; \"$0\" machine <&3 >&4 & echo $!; "
                           "echo 200 >&3; wait",
                           qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-agent"});
        QVERIFY(shell.waitForStarted());
        QTRY_VERIFY_WITH_TIMEOUT(shell.waitForReadyRead(100) || shell.canReadLine(), kPatienceMs);
        const qint64 pid = shell.readLine().trimmed().toLongLong();
        QVERIFY(pid > 0 && processRuns(pid));
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(pid), 2 * kMachineSilenceMs + kPatienceMs);
        shell.kill();
        shell.waitForFinished();
    }
};

QTEST_GUILESS_MAIN(TestAgentMachine)
#include "tst_agent_machine.moc"
