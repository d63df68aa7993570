// SPDX-License-Identifier: Apache-2.0
// What the agent does on a Slurm cluster where things go wrong. Slurm's programs are scripts here;
// for the real ones see tests/integration/tst_slurm.cpp.
#include "shared/exit_code.h"
#include "tests/unit/agent/agent_fixture.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>

#include <csignal>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kLongMs = 30'000;
const QByteArray kWaits = "7|PENDING|Resources|main||N/A";

/// A login node whose sbatch, squeue and scancel are what a test says.
class LoginNode : public AgentFixture {
public:
    LoginNode() {
        QDir().mkpath(path("tools"));
        setVariable("PATH", path("tools") + ":" + environment().value("PATH"));
        tool("squeue", "cat \"$(dirname \"$0\")/queue\" 2>/dev/null; exit 0");
        tool("scancel", "echo \"$@\" >> \"$(dirname \"$0\")/cancelled\"; "
                        "echo '7|CANCELLED|None|main||N/A' > \"$(dirname \"$0\")/queue\"");
        tool("sbatch", "echo 7");
    }
    void tool(const QString& name, const QByteArray& commands) {
        write("tools/" + name, "#!/bin/sh\n" + commands + "\n");
        QFile::setPermissions(path("tools/" + name),
                              QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    void write(const QString& name, const QByteArray& text) {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    QByteArray read(const QString& name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    /// Of a run of one node and one rank.
    Answer submit() const { return submitParts({plan(1)}); }
    Answer submitParts(const std::vector<NodePlan>& plans, const QString& spec = {}) const {
        QJsonArray parts;
        for (const NodePlan& plan : plans)
            parts.append(QJsonObject{{"spec", "[launch]\nmax_restarts = 0\n" + spec},
                                     {"plan", QString::fromStdString(toToml(plan))}});
        const QJsonObject order{{"script", "#!/bin/sh\n"}, {"parts", parts}};
        return agent({"submit", "r1"}, QJsonDocument(order).toJson());
    }
    QJsonObject jobState() const { return agent({"job-state", "r1"}).json(); }
    QString jobPath() const { return runFolder() + "/job.json"; }
    QJsonObject job() const {
        QFile file(jobPath());
        return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                              : QJsonObject();
    }

    /// What srun starts on a node of the job.
    std::unique_ptr<QProcess> startInJob(int starts, int node = 0, int nodes = 1) {
        setVariable("SLURM_JOB_ID", "7");
        setVariable("SLURM_RESTART_COUNT", QString::number(starts));
        setVariable("SLURM_NODEID", QString::number(node));
        setVariable("SLURM_NNODES", QString::number(nodes));
        return spawn({"in-job", "r1"});
    }
};

/// Of a mask of /proc/PID/status.
bool hasSignal(const QProcess& process, const QByteArray& mask, int signal) {
    QFile file(QString("/proc/%1/status").arg(process.processId()));
    if (!file.open(QIODevice::ReadOnly))
        return false;
    for (const QByteArray& line : file.readAll().split('\n'))
        if (line.startsWith(mask))
            return (line.mid(mask.size()).trimmed().toULongLong(nullptr, 16) >> (signal - 1)) & 1;
    return false;
}

void sendSignal(const QProcess& process, int signal) {
    ::kill(static_cast<pid_t>(process.processId()), signal);
}

} // namespace

class TestAgentJobs : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aJobOfWhichTheNumberWasNotNotedIsFoundByItsName();
    void aJobThatWasNeverHandedInIsOver();
    void whatSbatchRefusesLeavesNoJob();
    void whatComesBeforeTheRanksEndsNobody();
    void aJobThatSavesNothingInThreeStartsEnds();
    void howAJobThatSlurmForgotEndedIsAskedOfItsAccounts_data();
    void howAJobThatSlurmForgotEndedIsAskedOfItsAccounts();
    void gpusThatTheRunIsNotForEndItBeforeItsRanks_data();
    void gpusThatTheRunIsNotForEndItBeforeItsRanks();
};

void TestAgentJobs::aJobOfWhichTheNumberWasNotNotedIsFoundByItsName() {
    LoginNode f;
    f.tool("sbatch", "echo '" + kWaits + "' > \"$(dirname \"$0\")/queue\"; kill -9 $PPID; echo 7");
    QVERIFY(f.submit().exitCode != 0);
    QCOMPARE(f.job()["id"].toString(), QString());
    f.tool("squeue",
           "case \"$*\" in *--name=r1.1*|*--jobs=7*) cat \"$(dirname \"$0\")/queue\";; esac");
    const QJsonObject state = f.jobState();
    QCOMPARE(state["phase"].toString(), QString("waiting"));
    QVERIFY2(state["words"].toString().startsWith("job 7 waits in the queue of Slurm"),
             qPrintable(state["words"].toString()));
    QCOMPARE(f.job()["id"].toString(), QString("7"));
    const auto stopped = f.agent({"stop", "r1", "--kill"});
    QVERIFY2(stopped.exitCode == 0, stopped.err);
    QVERIFY(f.read("tools/cancelled").endsWith("\n7\n"));
    QVERIFY(f.agentState()["ended"].toBool());
}

void TestAgentJobs::aJobThatWasNeverHandedInIsOver() {
    LoginNode f;
    f.tool("sbatch", "kill -9 $PPID");
    QVERIFY(f.submit().exitCode != 0);
    QCOMPARE(f.jobState()["words"].toString(), QString("its job is being handed in to Slurm"));
    QFile file(f.jobPath()); // as if that were long ago
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"id\":\"\",\"attempt\":1,\"asked_ns\":1}");
    file.close();
    const QJsonObject state = f.jobState();
    QCOMPARE(state["phase"].toString(), QString("over"));
    QVERIFY2(state["words"].toString().startsWith("it was not handed in to Slurm"),
             qPrintable(state["words"].toString()));
}

void TestAgentJobs::whatSbatchRefusesLeavesNoJob() {
    LoginNode f;
    f.tool("sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1");
    const auto refused = f.submit();
    QCOMPARE(refused.exitCode, static_cast<int>(ExitCode::kUnavailable));
    QVERIFY2(refused.err.contains("sbatch: error: invalid account"), refused.err);
    QVERIFY(!QFile::exists(f.jobPath()));
}

/// Slurm signals a job whose limit is short as soon as it has begun.
void TestAgentJobs::whatComesBeforeTheRanksEndsNobody() {
    LoginNode f;
    std::vector<NodePlan> plans(2, f.plan(1));
    for (int node = 0; node < 2; ++node) {
        plans[node].nodeIndex = plans[node].firstRank = node;
        plans[node].nodeCount = plans[node].worldSize = 2;
    }
    const auto submitted = f.submitParts(plans);
    QVERIFY2(submitted.exitCode == 0, submitted.err);
    const auto second = f.startInJob(0, 1, 2); // it waits for the first
    QTRY_VERIFY_WITH_TIMEOUT(hasSignal(*second, "SigBlk:", SIGUSR1), kLongMs);
    sendSignal(*second, SIGUSR1);
    QTRY_VERIFY_WITH_TIMEOUT(hasSignal(*second, "ShdPnd:", SIGUSR1), kLongMs);
    QCOMPARE(second->state(), QProcess::Running);
    second->kill();
    QVERIFY(second->waitForFinished(kLongMs));
}

void TestAgentJobs::aJobThatSavesNothingInThreeStartsEnds() {
    LoginNode f;
    const auto submitted = f.submit();
    QVERIFY2(submitted.exitCode == 0, submitted.err);
    f.write("tools/queue", "7|RUNNING|None|main|n1|N/A\n");
    for (int starts = 0; starts < 3; ++starts) {
        const auto process = f.startInJob(starts);
        const auto hasRank = [&] {
            const QJsonObject state = f.agentState();
            return state["attempt"].toInt() == starts + 1 && !state["ranks"].toArray().isEmpty();
        };
        QTRY_VERIFY_WITH_TIMEOUT(hasRank(), kLongMs);
        sendSignal(*process, SIGUSR1);
        QVERIFY(process->waitForFinished(kLongMs));
        QCOMPARE(process->exitCode(), 75);
        QVERIFY(!f.agentState()["ended"].toBool());
    }
    const auto process = f.startInJob(3);
    QVERIFY(process->waitForFinished(kLongMs));
    QCOMPARE(process->exitCode(), static_cast<int>(ExitCode::kUnavailable));
    QVERIFY(f.agentState()["ended"].toBool());
    const auto ends = f.nodeRecords<AttemptEnded>();
    QVERIFY(!ends.empty() && !ends.back().resumes);
    QVERIFY2(ends.back().message.find("was started 3 times, and each time told that its time is "
                                      "over before the run had saved anything") !=
                 std::string::npos,
             ends.back().message.c_str());
}

void TestAgentJobs::howAJobThatSlurmForgotEndedIsAskedOfItsAccounts_data() {
    QTest::addColumn<QByteArray>("account");
    QTest::addColumn<QString>("words");
    QTest::addColumn<bool>("isStopped");
    QTest::newRow("cancelled") << QByteArray("7|CANCELLED by 0|None|main|n1|2026-11-25T06:40:00")
                               << "job 7 of Slurm was cancelled" << true;
    QTest::newRow("time") << QByteArray("7|TIMEOUT|None|main|n1|2026-11-25T06:40:00")
                          << "job 7 of Slurm ended at its time limit" << false;
    QTest::newRow("memory")
        << QByteArray("7|OUT_OF_MEMORY|None|main|n1|2026-11-25T06:40:00")
        << "job 7 of Slurm ended, as it used more memory than it had asked for; "
           "ask for more by --mem=SIZE in launch.sbatch"
        << false;
    QTest::newRow("no accounts") << QByteArray()
                                 << "job 7 of Slurm is over, and Slurm knows it no more" << false;
}

/// squeue forgets a job some minutes after its end.
void TestAgentJobs::howAJobThatSlurmForgotEndedIsAskedOfItsAccounts() {
    QFETCH(QByteArray, account);
    QFETCH(QString, words);
    QFETCH(bool, isStopped);
    LoginNode f;
    const auto submitted = f.submit();
    QVERIFY2(submitted.exitCode == 0, submitted.err);
    f.tool("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
    f.tool("sacct", account.isEmpty()
                        ? QByteArray("echo 'Slurm accounting storage is disabled' >&2; exit 1")
                        : "case \"$*\" in *--jobs=7*--format=JobID,State,Reason,Partition,NodeList,"
                          "Start*) echo '" +
                              account + "';; esac");
    const QJsonObject state = f.jobState();
    QCOMPARE(state["phase"].toString(), QString("over"));
    QCOMPARE(state["words"].toString(), words);
    const auto adopted = f.agent({"adopt", "r1", "0"});
    QVERIFY2(adopted.exitCode == 0, adopted.err);
    const auto ends = f.nodeRecords<AttemptEnded>();
    QCOMPARE(ends.size(), size_t{1});
    QCOMPARE(QString::fromStdString(ends[0].message), words);
    QCOMPARE(ends[0].outcome == Outcome::kStopped, isStopped);
}

void TestAgentJobs::gpusThatTheRunIsNotForEndItBeforeItsRanks_data() {
    QTest::addColumn<QString>("nvml");
    QTest::addColumn<QString>("visible");
    QTest::addColumn<QString>("runtime");
    QTest::addColumn<QString>("precision");
    QTest::addColumn<QString>("why");
    const QString v100 = "550.127.05;70;Tesla V100-SXM2-32GB";
    QTest::newRow("too old")
        << v100 << "0"
        << "cuda13"
        << "float32"
        << "the runtime cuda13 does not run on the GPUs that Slurm gave (Tesla "
           "V100-SXM2-32GB, driver 550.127.05), as its Tesla V100-SXM2-32GB is "
           "sm_70, and the oldest for cuda13 is sm_75; set launch.runtime = "
           "\"cuda12\"";
    QTest::newRow("old driver") << "535.183.01;90;NVIDIA H100"
                                << "0"
                                << "cuda13"
                                << "float32"
                                << "the runtime cuda13 does not run on the GPUs that Slurm gave "
                                   "(NVIDIA H100, driver 535.183.01), as its driver 535.183.01 is "
                                   "older than 580; set launch.runtime = \"cuda12\"";
    QTest::newRow("none serves")
        << "470.256.02;37;Tesla K80"
        << "0"
        << "cuda12"
        << "float32"
        << "the runtime cuda12 does not run on the GPUs that Slurm gave "
           "(Tesla K80, driver 470.256.02), as its Tesla K80 is sm_37, and "
           "the oldest for cuda12 is sm_50; ask for other GPUs by "
           "launch.sbatch, or set launch.device = \"cpu\"";
    QTest::newRow("precision") << v100 << "0"
                               << "cuda12"
                               << "bfloat16"
                               << "train.precision is \"bfloat16\", which its Tesla V100-SXM2-32GB "
                                  "(sm_70) does not have; take \"float16\" or \"float32\"";
    QTest::newRow("fit") << v100 << "0"
                         << "cuda12"
                         << "float16"
                         << "";
    const QString two = "580.65.06;70;Tesla V100;90;NVIDIA H100";
    QTest::newRow("of two kinds the other one") << two << "1"
                                                << "cuda13"
                                                << "bfloat16"
                                                << "";
}

/// What a cluster calls its GPUs need not say what they are: then a job finds out.
void TestAgentJobs::gpusThatTheRunIsNotForEndItBeforeItsRanks() {
    QFETCH(QString, nvml);
    QFETCH(QString, visible);
    QFETCH(QString, runtime);
    QFETCH(QString, precision);
    QFETCH(QString, why);
    LoginNode f;
    QVERIFY(QFile::link(qEnvironmentVariable("RINGMASTER_BUILD") + "/tests/libfake_nvml.so",
                        f.path("tools/libnvidia-ml.so.1")));
    NodePlan plan = f.plan(1);
    plan.device = "cuda";
    plan.runtime = runtime.toStdString();
    const auto submitted = f.submitParts({plan}, "[train]\nprecision = \"" + precision + "\"\n");
    QVERIFY2(submitted.exitCode == 0, submitted.err);
    f.write("tools/queue", "7|RUNNING|None|main|n1|N/A\n");
    f.setVariable("LD_LIBRARY_PATH", f.path("tools"));
    f.setVariable("RINGMASTER_FAKE_NVML", nvml);
    f.setVariable("CUDA_VISIBLE_DEVICES", visible);
    const auto process = f.startInJob(0);
    if (why.isEmpty()) {
        const auto hasRank = [&f] { return !f.agentState()["ranks"].toArray().isEmpty(); };
        QTRY_VERIFY_WITH_TIMEOUT(hasRank(), kLongMs);
        sendSignal(*process, SIGUSR1);
        QVERIFY(process->waitForFinished(kLongMs));
        return;
    }
    QVERIFY(process->waitForFinished(kLongMs));
    QCOMPARE(process->exitCode(), static_cast<int>(ExitCode::kUnavailable));
    const QByteArray said = process->readAllStandardError();
    QVERIFY2(said.contains("in-job r1: " + why.toUtf8()), said);
    QVERIFY(f.agentState()["ended"].toBool());
    QVERIFY(f.agentState()["ranks"].toArray().isEmpty());
    const auto ends = f.nodeRecords<AttemptEnded>();
    QCOMPARE(ends.size(), size_t{1});
    QVERIFY(ends[0].outcome == Outcome::kFailed && !ends[0].resumes);
    QCOMPARE(QString::fromStdString(ends[0].message), why);
}

QTEST_GUILESS_MAIN(TestAgentJobs)
#include "tst_agent_jobs.moc"
