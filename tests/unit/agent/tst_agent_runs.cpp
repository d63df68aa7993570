// SPDX-License-Identifier: Apache-2.0
// The real agent program with trainers that are small programs of the test.
#include "shared/board/board.h"
#include "shared/checkpoint/manifest.h"
#include "shared/exit_code.h"
#include "shared/io/file.h"
#include "tests/unit/agent/agent_fixture.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>

#include <algorithm>
#include <csignal>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kLongMs = 20'000;

QByteArray orderOf(const char* spec, const char* plan) {
    return QJsonDocument(QJsonObject{{"spec", spec}, {"plan", plan}}).toJson();
}

} // namespace

class TestAgentRuns : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void ranksGetTorchrunsEnvironmentAndNoSearchPaths() {
        AgentFixture f;
        f.setVariable("LD_LIBRARY_PATH", "/nowhere");
        f.setVariable("RANK", "77");
        f.useTrainer("#!/bin/sh\nenv\nshift 0\necho \"args: $*\"\npwd\n");
        NodePlan plan = f.plan(2);
        plan.firstRank = 2;
        plan.worldSize = 4;
        plan.nodeIndex = 0;
        plan.nodeCount = 2;
        plan.interface = "eth7";
        plan.startFrom = "/some/step-000000100";
        plan.environment = {"NCCL_DEBUG=INFO"};
        QCOMPARE(f.start(plan, "name = \"fake\"\n[train]\nthreads = 3\n").exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        const QByteArray log = logOf(f, 3);
        for (const char* line :
             {"RANK=3\n", "LOCAL_RANK=1\n", "WORLD_SIZE=4\n", "LOCAL_WORLD_SIZE=2\n",
              "GROUP_RANK=0\n", "MASTER_ADDR=127.0.0.1\n", "MASTER_PORT=29500\n",
              "TORCHELASTIC_RESTART_COUNT=0\n", "TORCHELASTIC_RUN_ID=r1\n", "NCCL_DEBUG=INFO\n",
              "NCCL_SOCKET_IFNAME=eth7\n", "GLOO_SOCKET_IFNAME=eth7\n", "OMP_NUM_THREADS=3\n",
              "PATH=/usr/local/bin:/usr/bin:/bin\n"})
            QVERIFY2(log.contains(line), line);
        QVERIFY(!log.contains("LD_LIBRARY_PATH"));
        const QByteArray dir = f.runDir().toUtf8();
        QVERIFY(log.contains("args: --spec " + dir + "/spec.toml --run-dir " + dir +
                             " --start-from /some/step-000000100\n"));
        QVERIFY(log.endsWith(dir + "\n"));
    }

    void runDirectoryIsForItsOwnerAlone() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        const auto others = QFile::ReadGroup | QFile::WriteGroup | QFile::ExeGroup |
                            QFile::ReadOther | QFile::WriteOther | QFile::ExeOther;
        QVERIFY(!(QFileInfo(f.runDir()).permissions() & others));
        QVERIFY(!(QFileInfo(f.runDir() + "/agent.sock").permissions() & others));
    }

    void allFinishedIsFinished() {
        AgentFixture f;
        f.script(0, "finish@3");
        f.script(1, "finish@5");
        const auto answer = f.start(f.plan(2));
        QCOMPARE(answer.exitCode, 0);
        QCOMPARE(answer.json()["run_dir"].toString(), f.runDir());
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        QCOMPARE(f.nodeRecords<AttemptEnded>()[0].outcome, Outcome::kFinished);
        QCOMPARE(f.nodeRecords<RankStarted>().size(), size_t(2));
        QCOMPARE(f.nodeRecords<RankExited>().size(), size_t(2));
        QTRY_VERIFY(!processRuns(answer.json()["pid"].toInteger()));
    }

    void oneFailureEndsAllAndIsNamed() {
        AgentFixture f;
        f.script(2, "exit=7@10");
        QCOMPARE(f.start(f.plan(3)).exitCode, 0);
        const std::vector<qint64> pids = {f.rankPid(0), f.rankPid(1), f.rankPid(2)};
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        const AttemptEnded ended = f.nodeRecords<AttemptEnded>()[0];
        QCOMPARE(ended.outcome, Outcome::kFailed);
        QCOMPARE(ended.firstFailedRank, 2);
        QCOMPARE(ended.exitCode, 7);
        const RankExited first = f.nodeRecords<RankExited>()[0];
        QVERIFY2(first.tail.ends_with("last words of this rank"), first.tail.c_str());
        for (const qint64 pid : pids)
            QVERIFY(!processRuns(pid));
    }

    void signalIsReportedByName() {
        AgentFixture f;
        f.script(0, "signal=11@3");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        const RankExited exited = f.nodeRecords<RankExited>()[0];
        QCOMPARE(exited.signal, 11);
        QCOMPARE(exited.message, std::string("killed by SIGSEGV"));
    }

    void killedRankIsNoticedWithinASecond() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        QElapsedTimer timer;
        timer.start();
        ::kill(static_cast<pid_t>(f.rankPid(1)), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<RankExited>().empty(), kLongMs);
        QVERIFY(timer.elapsed() < 1000);
        QCOMPARE(f.nodeRecords<RankExited>()[0].rank, 1);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
    }

    void deafRankIsKilledAfterTheGrace() {
        AgentFixture f;
        f.script(0, "ignore-term@1");
        f.script(1, "exit=1@20");
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        QCOMPARE(f.nodeRecords<RankExited>()[1].signal, SIGKILL);
        QCOMPARE(f.nodeRecords<AttemptEnded>()[0].firstFailedRank, 1);
    }

    void childrenOfARankAreNotLeft() {
        AgentFixture f;
        f.script(0, "leave-child@2");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(QFileInfo(f.runDir() + "/child.pid").size() > 0, kLongMs);
        QFile file(f.runDir() + "/child.pid");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const qint64 child = file.readAll().trimmed().toLongLong();
        QVERIFY(processRuns(child));
        QCOMPARE(f.agent({"stop", "r1"}).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(child), kLongMs);
    }

    void missingTrainerIsAnErrorAndLeavesNothing() {
        AgentFixture f;
        NodePlan plan = f.plan(2);
        plan.bundle = "/nowhere";
        const auto answer = f.start(plan);
        QCOMPARE(answer.exitCode, static_cast<int>(ExitCode::kNotFound));
        QVERIFY(answer.err.contains("/nowhere/bin/ringmaster-trainer"));
        QCOMPARE(answer.err.count('\n'), 1);
        QVERIFY(!QFile::exists(f.runDir() + "/agent.json"));
        QVERIFY(f.nodeRecords<RankStarted>().empty());
    }

    void badOrdersAreRefused_data() {
        QTest::addColumn<QByteArray>("order");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("no JSON") << QByteArray("spec");
        QTest::newRow("no plan") << QByteArray("{\"spec\": \"\"}");
        QTest::newRow("bad spec") << orderOf("nmae = 3", "");
        QTest::newRow("bad plan") << orderOf("", "attempt = true");
        QTest::newRow("other run") << orderOf("", "run_id = 'r2'\nmaster_addr = 'a'");
    }
    void badOrdersAreRefused() {
        QFETCH(QByteArray, order);
        AgentFixture f;
        const auto answer = f.agent({"start", "r1"}, order);
        QCOMPARE(answer.exitCode, static_cast<int>(ExitCode::kUsage));
        QVERIFY(answer.err.startsWith("ringmaster-agent: start r1"));
        QVERIFY(!QFile::exists(f.runDir()));
    }

    void badRunIdsAreRefused_data() {
        QTest::addColumn<QString>("verb");
        for (const char* verb : {"start", "attach", "stop", "remove", "checkpoints"})
            QTest::newRow(verb) << QString(verb);
    }
    void badRunIdsAreRefused() {
        QFETCH(QString, verb);
        AgentFixture f;
        QCOMPARE(f.agent({verb, "../../etc"}).exitCode, static_cast<int>(ExitCode::kUsage));
    }

    void secondStartIsRefusedWhileSupervised() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        const auto answer = f.start(f.plan(1));
        QCOMPARE(answer.exitCode, static_cast<int>(ExitCode::kUnavailable));
        QVERIFY(answer.err.contains("an agent supervises this run"));
        QVERIFY(processRuns(f.rankPid(0)));
    }

    void concurrentStartsGiveOneSupervisor() {
        AgentFixture f;
        const QJsonObject order{{"spec", "name = \"fake\"\n"},
                                {"plan", QString::fromStdString(toToml(f.plan(1)))}};
        std::vector<std::unique_ptr<QProcess>> starters;
        for (int i = 0; i < 8; ++i)
            starters.push_back(f.spawn({"start", "r1"}));
        for (const auto& starter : starters) {
            starter->write(QJsonDocument(order).toJson());
            starter->closeWriteChannel();
        }
        int started = 0;
        for (const auto& starter : starters) {
            QVERIFY(starter->waitForFinished(kLongMs));
            started += starter->exitCode() == 0;
        }
        QCOMPARE(started, 1);
        QCOMPARE(f.nodeRecords<RankStarted>().size(), size_t(1));
    }

    void hangUpOfTheStartingSessionIsSurvived() {
        AgentFixture f;
        const QString script =
            QString("exec setsid -w sh -c '\"%1\" start r1 < \"%2\"; kill -HUP 0'")
                .arg(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-agent", f.path("order"));
        writeOrder(f, f.plan(1));
        QProcess session;
        session.setProcessEnvironment(f.environment());
        session.start("sh", {"-c", script});
        QVERIFY(session.waitForFinished(kLongMs));
        const auto state = [&f] { return stepOf(f, 0); };
        QTRY_VERIFY_WITH_TIMEOUT(state() > 0, kLongMs);
        const int64_t before = state();
        QTRY_VERIFY_WITH_TIMEOUT(state() > before + 20, kLongMs);
        QVERIFY(processRuns(f.agentState()["supervisor"].toObject()["pid"].toInteger()));
    }

    void startReturnsWhileOutputIsAPipe() {
        AgentFixture f;
        // Would wait for ever if the supervisor or a rank kept the session's pipes.
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
    }

    void stopEndsEverythingAndIsIdempotent() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 1) > 0, kLongMs);
        const auto stopped = f.agent({"stop", "r1"});
        QCOMPARE(stopped.exitCode, 0);
        QCOMPARE(stopped.json()["state"].toString(), QString("stopped"));
        QCOMPARE(f.nodeRecords<AttemptEnded>().at(0).outcome, Outcome::kStopped);
        QCOMPARE(f.nodeRecords<RankExited>().at(0).exitCode,
                 static_cast<int>(ExitCode::kPreempted));
        QCOMPARE(f.agent({"stop", "r1"}).json()["state"].toString(), QString("not-running"));
        QCOMPARE(f.nodeRecords<AttemptEnded>().size(), size_t(1));
    }

    void stopWithKillIsAtOnce() {
        AgentFixture f;
        f.script(0, "ignore-term@1");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 0) > 2, kLongMs);
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(f.agent({"stop", "r1", "--kill"}).exitCode, 0);
        QVERIFY(timer.elapsed() < 4000);
        QCOMPARE(f.nodeRecords<RankExited>().at(0).signal, SIGKILL);
    }

    void unknownRunIsNotFound() {
        AgentFixture f;
        for (const char* verb : {"stop", "attach", "remove", "checkpoints"})
            QCOMPARE(f.agent({verb, "r1"}).exitCode, static_cast<int>(ExitCode::kNotFound));
    }

    void removeIsRefusedWhileRunning() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QCOMPARE(f.agent({"remove", "r1"}).exitCode, static_cast<int>(ExitCode::kUnavailable));
        QCOMPARE(f.agent({"stop", "r1"}).exitCode, 0);
        QCOMPARE(f.agent({"remove", "r1"}).exitCode, 0);
        QVERIFY(!QFile::exists(f.runDir()));
    }

    void killedAgentLeavesRanksTraining() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 0) > 0 && stepOf(f, 1) > 0, kLongMs);
        killSupervisor(f);
        const int64_t before = stepOf(f, 1);
        QTRY_VERIFY_WITH_TIMEOUT(stepOf(f, 1) > before + 20, kLongMs);

        const auto again = f.start(f.plan(2));
        QCOMPARE(again.exitCode, static_cast<int>(ExitCode::kUnavailable));
        QVERIFY2(again.err.contains("still run ranks 0 (process"), again.err.constData());

        const auto stopped = f.agent({"stop", "r1"});
        QCOMPARE(stopped.json()["state"].toString(), QString("stopped"));
        QCOMPARE(stopped.json()["ranks"].toArray().size(), 2);
        QVERIFY(!processRuns(f.rankPid(0)) && !processRuns(f.rankPid(1)));
        QCOMPARE(f.nodeRecords<AttemptEnded>().at(0).outcome, Outcome::kStopped);
    }

    void lostAttemptIsClosedByTheNextStart() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        const qint64 rank = f.rankPid(0);
        killSupervisor(f);
        ::kill(static_cast<pid_t>(rank), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(rank), kLongMs);
        NodePlan plan = f.plan(1);
        plan.attempt = 2;
        QCOMPARE(f.start(plan).exitCode, 0);
        const auto ended = f.nodeRecords<AttemptEnded>();
        QCOMPARE(ended.size(), size_t(1));
        QCOMPARE(ended[0].attempt, 1);
        QCOMPARE(ended[0].outcome, Outcome::kFailed);
        QTRY_COMPARE_WITH_TIMEOUT(attemptOnBoard(f), 2, kLongMs);
    }

    void tailIsOfThisAttemptAlone() {
        AgentFixture f;
        f.useTrainer("#!/bin/sh\necho words of attempt $TORCHELASTIC_RESTART_COUNT\nexit 9\n");
        NodePlan plan = f.plan(1);
        for (int attempt : {1, 2}) {
            plan.attempt = attempt;
            QCOMPARE(f.start(plan).exitCode, 0);
            QTRY_COMPARE_WITH_TIMEOUT(f.nodeRecords<AttemptEnded>().size(), size_t(attempt),
                                      kLongMs);
        }
        QCOMPARE(f.nodeRecords<RankExited>()[1].tail, std::string("words of attempt 1"));
    }

    void nextAttemptMayStartAtOnce() {
        AgentFixture f;
        f.script(0, "finish@1");
        NodePlan plan = f.plan(1);
        for (int attempt = 1; attempt <= 10; ++attempt) {
            plan.attempt = attempt;
            const auto answer = f.start(plan);
            QVERIFY2(answer.exitCode == 0, answer.err.constData());
            QElapsedTimer timer;
            timer.start();
            while (f.nodeRecords<AttemptEnded>().size() < size_t(attempt))
                QVERIFY(timer.elapsed() < kLongMs);
        }
    }

    void checkpointsAreListedAndVerified() {
        AgentFixture f;
        f.script(0, "finish@1");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QCOMPARE(f.agent({"checkpoints", "r1"}).out, QByteArray("[]\n"));
        const std::string parent = f.runDir().toStdString() + "/checkpoints";
        Manifest manifest;
        manifest.runId = "r1";
        manifest.step = 20;
        manifest.reason = "command";
        QDir().mkpath(QString::fromStdString(parent));
        const auto published = publishCheckpoint(parent, manifest, [](const std::string& dir) {
            return writeFileAtomically(dir + "/state.json", "{}");
        });
        QVERIFY2(published.has_value(), published ? "" : published.error().message.c_str());
        const auto entry = [&f] {
            const auto out = f.agent({"checkpoints", "r1", "--verify"}).out;
            return QJsonDocument::fromJson(out).array().at(0).toObject();
        };
        QCOMPARE(entry()["step"].toInt(), 20);
        QCOMPARE(entry()["path"].toString().toStdString(), *published);
        QVERIFY(entry()["valid"].toBool() && entry()["validation_loss"].isNull());
        QFile file(QString::fromStdString(*published) + "/state.json");
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("[]");
        file.close();
        QVERIFY(!entry()["valid"].toBool());
    }

    void nodeIsSampledEachSecond() {
        AgentFixture f;
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
        const auto has = [&f](int32_t rank, MetricId metric) {
            for (const Samples& samples : f.nodeRecords<Samples>())
                if (samples.rank == rank &&
                    std::count(samples.metric.begin(), samples.metric.end(), metric))
                    return true;
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(has(1, metric::kRankCpu), kLongMs);
        QVERIFY(has(0, metric::kNodeCpu) && has(0, metric::kNodeMemoryBytes));
        QVERIFY(has(0, metric::kRankMemoryBytes));
        QVERIFY(!has(1, metric::kNodeCpu) && !has(0, metric::kGpuUtilization));
        const auto samples = f.nodeRecords<Samples>();
        QVERIFY(samples.back().step > 0);
    }

    void startIsFast() {
        AgentFixture f;
        f.script(0, "finish@1");
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        qInfo("start took %lld ms", timer.elapsed());
        timer.restart();
        QCOMPARE(f.agent({"--version"}).out, QByteArray("ringmaster-agent 0.1.0 wire 1\n"));
        qInfo("--version took %lld ms", timer.elapsed());
    }

private:
    static QByteArray logOf(const AgentFixture& f, int rank) {
        QFile file(f.runDir() + "/log/" + QString::fromStdString(rankLogName(rank)));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    static void writeOrder(const AgentFixture& f, const NodePlan& plan) {
        QFile file(f.path("order"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QJsonDocument(QJsonObject{{"spec", "name = \"fake\"\n"},
                                             {"plan", QString::fromStdString(toToml(plan))}})
                       .toJson());
    }
    static Result<Board> boardOf(const AgentFixture& f, int rank) {
        return Board::open(f.runDir().toStdString() + "/board/" + boardName(rank));
    }
    static int64_t stepOf(const AgentFixture& f, int rank) {
        const auto board = boardOf(f, rank);
        return board ? board->status().step : -1;
    }
    static int attemptOnBoard(const AgentFixture& f) {
        const auto board = boardOf(f, 0);
        return board ? board->status().attempt : -1;
    }
    static void killSupervisor(const AgentFixture& f) {
        const qint64 pid = f.agentState()["supervisor"].toObject()["pid"].toInteger();
        ::kill(static_cast<pid_t>(pid), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(!processRuns(pid), kLongMs);
    }
};

QTEST_GUILESS_MAIN(TestAgentRuns)
#include "tst_agent_runs.moc"
