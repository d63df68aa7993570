// SPDX-License-Identifier: Apache-2.0
// The real agent program with trainers that are small programs of the test.
#include "shared/checkpoint/manifest.h"
#include "shared/exit_code.h"
#include "shared/io/file.h"
#include "shared/journal/segment.h"
#include "shared/wire/receive.h"
#include "tests/support/requirement.h"
#include "tests/unit/agent/agent_fixture.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
        f.setVariable("RINGMASTER_STORE_NONCE", "77");
        f.setVariable("RINGMASTER_ADDRESS", "10.7.7.7");
        f.useTrainer("#!/bin/sh\nenv\nshift 0\necho \"args: $*\"\npwd\n");
        NodePlan plan = f.plan(2);
        plan.firstRank = 2;
        plan.worldSize = 4;
        plan.nodeIndex = 0;
        plan.nodeCount = 2;
        plan.interface = "eth7";
        plan.address = "fd00::7";
        plan.startFrom = "/some/step-000000100";
        plan.environment = {"NCCL_DEBUG=INFO"};
        plan.storeNonce = "c0ffee";
        QCOMPARE(f.start(plan, "name = \"fake\"\n[train]\nthreads = 3\n").exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        const QByteArray log = logOf(f, 3);
        for (const char* line :
             {"RANK=3\n", "LOCAL_RANK=1\n", "WORLD_SIZE=4\n", "LOCAL_WORLD_SIZE=2\n",
              "GROUP_RANK=0\n", "MASTER_ADDR=127.0.0.1\n", "MASTER_PORT=29500\n",
              "TORCHELASTIC_RESTART_COUNT=0\n", "TORCHELASTIC_RUN_ID=r1\n", "NCCL_DEBUG=INFO\n",
              "NCCL_SOCKET_IFNAME=eth7\n", "GLOO_SOCKET_IFNAME=eth7\n",
              "NCCL_SOCKET_FAMILY=AF_INET6\n", "RINGMASTER_ADDRESS=fd00::7\n",
              "OMP_NUM_THREADS=3\n", "PATH=/usr/local/bin:/usr/bin:/bin\n",
              "RINGMASTER_STORE_NONCE=c0ffee\n"})
            QVERIFY2(log.contains(line), line);
        QVERIFY(!log.contains("LD_LIBRARY_PATH"));
        const QByteArray dir = f.runDir().toUtf8();
        QVERIFY(log.contains("args: --spec " + dir + "/spec.toml --run-dir " + dir +
                             " --start-from /some/step-000000100 --fall-back\n"));
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

    void aRunFolderOfAnotherUserIsAClearError_data() {
        QTest::addColumn<QString>("folder");
        QTest::newRow("all runs") << "..";
        QTest::newRow("the run") << ".";
        QTest::newRow("a part of it") << "node-00000";
    }
    void aRunFolderOfAnotherUserIsAClearError() {
        QFETCH(QString, folder);
        RM_NEEDS("root", ::geteuid() == 0, QStringLiteral("another user's folder takes root"));
        AgentFixture f;
        f.script(0, "finish@1");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(f.agentState()["ended"].toBool(), kLongMs);
        const QString path = QDir::cleanPath(f.runFolder() + '/' + folder);
        constexpr uid_t kNobody = 65534;
        QCOMPARE(::chown(qPrintable(path), kNobody, kNobody), 0);
        QCOMPARE(::chmod(qPrintable(path), 0700), 0);
        f.obeyPermissions();
        std::vector<AgentFixture::Answer> answers;
        for (const QStringList& words :
             {QStringList{"state", "r1"}, QStringList{"stop", "r1"}, QStringList{"remove", "r1"},
              QStringList{"remove", "r1", "--preview"}})
            answers.push_back(f.agent(words));
        answers.push_back(f.start(f.plan(1)));
        for (const auto& answer : answers) {
            QVERIFY2(answer.exitCode == static_cast<int>(ExitCode::kDenied), answer.err);
            QVERIFY2(answer.err.contains("Permission denied") &&
                         answer.err.contains(f.runFolder().toUtf8()),
                     answer.err);
            QCOMPARE(answer.err.count('\n'), 1);
        }
        // Nor does anything go from under what cannot be seen.
        const auto uninstalled = f.agent({"uninstall"});
        QVERIFY2(uninstalled.exitCode == static_cast<int>(ExitCode::kDenied) &&
                     uninstalled.err.contains("Permission denied"),
                 uninstalled.err);
        QVERIFY(QFile::exists(f.runDir() + "/plan.toml")); // nothing went
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
        QVERIFY(!QFile::exists(f.runFolder()));
    }

    void badRunIdsAreRefused_data() {
        QTest::addColumn<QString>("subcommand");
        for (const char* subcommand : {"start", "attach", "adopt", "stop", "state", "remove"})
            QTest::newRow(subcommand) << QString(subcommand);
    }
    void badRunIdsAreRefused() {
        QFETCH(QString, subcommand);
        AgentFixture f;
        QStringList words{subcommand, "../../etc"};
        if (subcommand == "attach" || subcommand == "adopt")
            words << "0";
        const auto answer = f.agent(words);
        QCOMPARE(answer.exitCode, static_cast<int>(ExitCode::kUsage));
        QVERIFY2(answer.err.contains("an id is"), answer.err.constData());
    }

    void startReturnsWhileOutputIsAPipe() {
        AgentFixture f;
        // Would wait for ever if the supervisor or a rank kept the session's pipes.
        QCOMPARE(f.start(f.plan(2)).exitCode, 0);
    }

    void aBundleThatChangedIsNotExecuted() {
        AgentFixture f;
        const std::string program = "#!/bin/sh\nexit 0\n";
        const std::vector<TreeEntry> entries = {
            {"bin/ringmaster-trainer", sha256Hex(std::as_bytes(std::span(program))), true}};
        const QString bundle = f.home() + "/bundles/" + QString::fromStdString(treeId(entries));
        const QString trainer = bundle + "/bin/ringmaster-trainer";
        QVERIFY(QDir().mkpath(bundle + "/bin"));
        const auto write = [&](const std::string& text) {
            QFile::remove(trainer);
            return writeFileAtomically(trainer.toStdString(), text).has_value() &&
                   QFile::setPermissions(trainer, QFile::ReadOwner | QFile::ExeOwner);
        };
        QVERIFY(write(program));
        QVERIFY(
            writeFileAtomically(bundle.toStdString() + "/.ringmaster-contents", treeList(entries)));
        NodePlan plan = f.plan(1);
        plan.bundle = bundle.toStdString();
        QCOMPARE(f.start(plan).exitCode, 0);
        QTRY_COMPARE_WITH_TIMEOUT(f.nodeRecords<AttemptEnded>().size(), size_t(1), kLongMs);

        // In its place and with its time, as rsync and cp -p write.
        struct stat before = {};
        const QByteArray path = trainer.toLocal8Bit();
        QCOMPARE(::stat(path, &before), 0);
        QFile changed(trainer);
        QVERIFY(
            QFile::setPermissions(trainer, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        QVERIFY(changed.open(QIODevice::ReadWrite));
        QCOMPARE(changed.write("#!/bin/sh\nexit 1\n"), 17);
        changed.close();
        const timespec times[2] = {before.st_atim, before.st_mtim};
        QCOMPARE(::utimensat(AT_FDCWD, path, times, 0), 0);
        plan.attempt = 2;
        QCOMPARE(f.start(plan).exitCode, static_cast<int>(ExitCode::kCorrupt));

        QVERIFY(write("#!/bin/sh\ntouch " + f.path("evil").toStdString() + "\n"));
        const auto refused = f.start(plan);
        QCOMPARE(refused.exitCode, static_cast<int>(ExitCode::kCorrupt));
        QVERIFY2(refused.err.contains("bin/ringmaster-trainer in the bundle "), refused.err);
        QVERIFY2(refused.err.contains(QByteArray::fromStdString("instead of " + entries[0].sha256)),
                 refused.err);
        QVERIFY(!QFile::exists(f.path("evil")));
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

    void checkpointIsVerifiedByteByByte() {
        AgentFixture f;
        const std::string parent = f.path("checkpoints").toStdString();
        Manifest manifest;
        manifest.runId = "r1";
        manifest.step = 20;
        manifest.reason = "command";
        QDir().mkpath(f.path("checkpoints"));
        const auto published = publishCheckpoint(parent, manifest, [](const std::string& dir) {
            return writeFileAtomically(dir + "/state.json", "{}");
        });
        QVERIFY2(published.has_value(), published ? "" : published.error().message.c_str());
        const auto verdict = [&] {
            const auto answer =
                f.agent({"verify-checkpoint"}, QByteArray::fromStdString(*published));
            if (answer.exitCode != 0)
                qWarning("%s", answer.err.constData());
            return answer.json();
        };
        QVERIFY(verdict()["whole"].toBool());
        QVERIFY(verdict()["problem"].toString().isEmpty());
        const QString state = QString::fromStdString(*published) + "/state.json";
        QFile file(state);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("[]");
        file.close();
        QVERIFY(!verdict()["whole"].toBool(true));
        QVERIFY2(verdict()["problem"].toString().contains(state),
                 qPrintable(verdict()["problem"].toString()));
        QVERIFY(QDir(QString::fromStdString(*published)).removeRecursively());
        QVERIFY(!verdict()["whole"].toBool(true));
        QVERIFY(!verdict()["problem"].toString().isEmpty());
    }

    void onlyRetiredCheckpointIsRemoved() {
        AgentFixture f;
        f.script(0, "finish@1");
        QCOMPARE(f.start(f.plan(1)).exitCode, 0);
        QTRY_VERIFY_WITH_TIMEOUT(!f.nodeRecords<AttemptEnded>().empty(), kLongMs);
        const std::string parent = f.runDir().toStdString() + "/checkpoints";
        const auto publish = [&](int64_t step) {
            Manifest manifest;
            manifest.runId = "r1";
            manifest.step = step;
            manifest.reason = "every 20";
            manifest.best = step == 76;
            manifest.line.emplace();
            return publishCheckpoint(parent, manifest, [](const std::string& dir) {
                return writeFileAtomically(dir + "/state.json", "{}");
            });
        };
        QDir().mkpath(QString::fromStdString(parent));
        const auto start = publish(60);
        QVERIFY(start && publish(76));
        QVERIFY(f.agent({"remove-checkpoint", "r1", "step-000000076"}).exitCode != 0);
        NodePlan plan = f.plan(1);
        plan.attempt = 2;
        plan.startFrom = *start;
        QCOMPARE(f.start(plan).exitCode, 0);
        QTRY_COMPARE_WITH_TIMEOUT(f.nodeRecords<AttemptEnded>().size(), size_t(2), kLongMs);
        f.agent({"stop", "r1"}); // an agent that has not gone yet keeps the journal to itself
        QVERIFY(f.agent({"remove-checkpoint", "r1", "step-000000060"}).exitCode != 0);
        QVERIFY(f.agent({"remove-checkpoint", "r1", "../checkpoints/step-000000076"}).exitCode !=
                0);
        QCOMPARE(f.agent({"remove-checkpoint", "r1", "step-000000076"}).exitCode, 0);
        QCOMPARE(listCheckpoints(parent)->size(), size_t(1));
        const auto removed = f.nodeRecords<CheckpointRemoved>();
        QCOMPARE(removed.size(), size_t(1));
        QCOMPARE(removed[0].path, parent + "/step-000000076");
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
};

QTEST_GUILESS_MAIN(TestAgentRuns)
#include "tst_agent_runs.moc"
