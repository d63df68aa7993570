// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "shared/exit_code.h"
#include "shared/metrics/registry.h"
#include "tests/cli/own_folders.h"
#include "tests/support/free_port.h"
#include "tests/support/netns.h"
#include "tests/support/requirement.h"
#include "tests/support/slurm.h"
#include "tests/support/sockets.h"
#include "tests/support/sshd.h"
#include "tests/support/step_pace.h"
#include "tests/unit/train/trainer_run.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include <netinet/tcp.h>

#include <algorithm>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kDeadlineMs = 120000;

/// Spreads the ranks over the nodes; by the recipe, two share one.
const QStringList kOnePerNode{"--set", "launch.ranks=1"};

/// No checkpoint but those that somebody or something asks for.
const QString kNoneInPassing = "checkpoint.every=1000000";

QString program(const char* name) {
    return qEnvironmentVariable("RINGMASTER_BIN") + "/" + name;
}

/// Also where that was noticed meanwhile, of which waitForFinished() says false.
bool hasEnded(QProcess& process) {
    return process.state() == QProcess::NotRunning || process.waitForFinished(kDeadlineMs);
}

/// "10.231.1.2:22" at the other ends of the TCP connections in a process's network, also of those
/// that ended within the last minute.
QSet<QString> peersOf(qint64 pid) {
    QSet<QString> peers;
    for (const SeenSocket& each : socketsInNetworkOf(static_cast<pid_t>(pid)))
        if (each.state != TCP_LISTEN)
            peers << each.peer + ':' + QString::number(each.peerPort);
    return peers;
}

} // namespace

/// A real Slurm cluster of nodes on this machine, and Ringmaster before it.
class TestSlurm : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void aClusterOfTwoNodesRuns();
    void srunStartsTheTrainer();
    void theCheckNamesPartitionsAndIdleNodes();
    void aControllerThatIsDownIsSaidAndCanBeTriedAgain();
    void theScriptIsPrintedAsItIsSubmitted();
    void theStepOfAJobGetsItsOptions();
    void aScriptForGpusIsTakenBySbatch();
    void aRunIsOneJobThatTrainsToItsEnd();
    void aQueuedRunSaysItsPlaceAndIsStopped();
    void commandsReachTheRanksAndAPausedRunResumesAsAnotherJob();
    void aJobThatIsCancelledStopsTheRun();
    void aJobThatIsCancelledUnwatchedIsToldByALook_data();
    void aJobThatIsCancelledUnwatchedIsToldByALook();
    void aJobThatIsCancelledWhenItWasSignalledIsNotStartedAgain();
    void theTimeLimitMakesACheckpointAndTheNextStartGoesOn();
    void aPreemptedRunGoesOnFromItsCheckpoint();
    void aNodeThatFailsHasTheRunStartedAgain();
    void throughALoginNode();

private:
    std::optional<RunSummary> find(const QString& name) const;
    std::vector<StoredAttempt> attempts(const QString& name) const;
    bool hasState(const QString& name, RunStateKind state) const;
    std::unique_ptr<QProcess> launch(const QString& name, const QStringList& more = {}) const;
    Result<QString> submitForBothNodes(const QString& command,
                                       const QStringList& options = {}) const;
    QString jobOf(const QString& name) const;
    QByteArray whatIs(const QString& name) const;
    void trainBeyond(const QString& name, int attempt);
    void verifySavedWhenNotified(const QString& name) const;
    void killAndForget(const QString& name);

    OwnFolders m_own;
    std::unique_ptr<SlurmCluster> m_cluster;
};

void TestSlurm::initTestCase() {
    const auto can = canRunSlurm();
    RM_NEEDS("slurm", can, can ? "" : can.error().message.c_str());
    auto cluster = SlurmCluster::start();
    if (!cluster)
        qWarning("%s", cluster.error().message.c_str()); // longer than a QVERIFY2() shows
    QVERIFY(cluster);
    m_cluster = std::move(*cluster);
    qputenv("SLURM_CONF", m_cluster->configuration().toLocal8Bit());
    const Answer added = m_own.run({"nodes", "add", "cluster", "--slurm", "--here"});
    QVERIFY2(added.exitCode == 0, added.whole());
}

void TestSlurm::cleanup() {
    if (m_cluster && QTest::currentTestFailed())
        qInfo().noquote() << m_cluster->logs();
}

std::optional<RunSummary> TestSlurm::find(const QString& name) const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    const auto found = reader ? (*reader)->resolve(name) : tl::unexpected(reader.error());
    return found ? std::optional(*found) : std::nullopt;
}

std::vector<StoredAttempt> TestSlurm::attempts(const QString& name) const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    const auto run = find(name);
    return reader && run ? (*reader)->attempts(run->id) : std::vector<StoredAttempt>();
}

bool TestSlurm::hasState(const QString& name, RunStateKind state) const {
    const auto run = find(name);
    return run && run->state == state;
}

/// A run of two ranks, one on each node, that ends when it is told to.
std::unique_ptr<QProcess> TestSlurm::launch(const QString& name, const QStringList& more) const {
    QStringList words = longRunWords(name, 1000000, "cluster:2");
    words += kOnePerNode + QStringList{"--set", "checkpoint.every=20"} + more;
    return m_own.start(words + QStringList{"--wait", "--json"});
}

/// A job of somebody else, which shares no node; its number.
Result<QString> TestSlurm::submitForBothNodes(const QString& command,
                                              const QStringList& options) const {
    const QStringList words{"sbatch", "--parsable", "-N2", "--exclusive", "-o", "/dev/null"};
    return m_cluster->ask(words + options + QStringList{"--wrap", command});
}

QString TestSlurm::jobOf(const QString& name) const {
    const auto run = find(name);
    QFile file(m_own.path("state/ringmaster/runs/" + (run ? run->id : "") + "/job.json"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QJsonDocument::fromJson(file.readAll()).object()["id"].toString();
}

/// For the log of a failed test.
QByteArray TestSlurm::whatIs(const QString& name) const {
    const auto run = find(name);
    QByteArray text = m_own.run({"show", name}).whole();
    text += m_cluster->ask({"squeue"}).value_or("no squeue").toUtf8();
    if (!run)
        return text;
    const QString folder = m_own.path("state/ringmaster/runs/" + run->id);
    for (const QString& file :
         {"/slurm-" + jobOf(name) + ".log", QString("/node-00000/log/rank-00000.log"),
          QString("/node-00001/log/rank-00001.log")})
        if (QFile log(folder + file); log.open(QIODevice::ReadOnly))
            text += "\n== " + file.toUtf8() + "\n" + log.readAll().right(2000);
    return text;
}

/// Waits until that attempt has finished steps.
void TestSlurm::trainBeyond(const QString& name, int attempt) {
    const auto trains = [&] {
        const auto run = find(name);
        return run && run->attempt >= attempt && run->state == RunStateKind::kRunning &&
               run->step > 0;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(trains(), whatIs(name), kDeadlineMs);
}

/// The first attempt saved nothing but when it was told of its end, and the second began there.
void TestSlurm::verifySavedWhenNotified(const QString& name) const {
    const auto all = attempts(name);
    QVERIFY2(all.size() >= 2, whatIs(name));
    QVERIFY(all[0].ended && all[0].ended->outcome == Outcome::kPreempted && all[0].ended->resumes);
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    QVERIFY(reader);
    auto saved = (*reader)->checkpoints(find(name)->id);
    std::erase_if(saved, [](const StoredCheckpoint& each) { return each.attempt != 1; });
    QCOMPARE(saved.size(), size_t{1});
    QCOMPARE(saved[0].saved.reason, std::string("preempted"));
    QVERIFY(saved[0].saved.step > 0);
    QCOMPARE(all[1].startStep, saved[0].saved.step);
}

void TestSlurm::killAndForget(const QString& name) {
    const Answer killed = m_own.run({"kill", name}, kDeadlineMs);
    QVERIFY2(killed.exitCode == 0, killed.whole() + whatIs(name));
    QTRY_VERIFY2_WITH_TIMEOUT(hasState(name, RunStateKind::kStopped), whatIs(name), kDeadlineMs);
    QTRY_VERIFY2_WITH_TIMEOUT(m_cluster->jobs().isEmpty(), whatIs(name), kDeadlineMs);
}

void TestSlurm::aClusterOfTwoNodesRuns() {
    const auto names = m_cluster->ask({"srun", "-N2", "sh", "-c", "echo $SLURMD_NODENAME"});
    QVERIFY2(names, names ? "" : names.error().message.c_str());
    QStringList lines = names->split('\n');
    lines.sort();
    QCOMPARE(lines, (QStringList{"n1", "n2"}));
}

void TestSlurm::srunStartsTheTrainer() {
    TrainerRun run;
    const RunSpec spec = tinySpec();
    const QString dir = QString::fromStdString(run.dir());
    QFile file(dir + "/spec.toml");
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(toToml(spec)));
    file.close();
    const auto ended = m_cluster->ask({"srun", "-N2", "-n2", program("ringmaster-trainer"),
                                       "--spec", file.fileName(), "--run-dir", dir},
                                      kDeadlineMs);
    QVERIFY2(ended, ended ? "" : ended.error().message.c_str());
    const auto norms = run.series(0, metric::kTrainGradNorm);
    QCOMPARE(norms.size(), static_cast<size_t>(spec.train.steps));
    // Equal norms of the averaged gradients: one world of two, not two worlds of one.
    QCOMPARE(run.series(1, metric::kTrainGradNorm), norms);
}

void TestSlurm::theCheckNamesPartitionsAndIdleNodes() {
    const Answer check = m_own.run({"nodes", "check", "cluster", "--json"});
    QVERIFY2(check.exitCode == 0, check.whole());
    std::map<QString, QString> rows;
    for (const QJsonValue& row : check.json().array()[0].toObject()["rows"].toArray())
        rows[row.toObject()["title"].toString()] = row.toObject()["evidence"].toString();
    QVERIFY2(rows["Slurm"].endsWith(", jobs go to partition main"), check.whole());
    QVERIFY2(rows["Partition main"].startsWith("2 of 2 nodes idle, 4 processors on each"),
             check.whole());
    QVERIFY2(rows.contains("Partition urgent"), check.whole());
    QVERIFY2(!rows.contains("Logout"), check.whole());
    const Answer other = m_own.run(
        {"nodes", "add", "other", "--slurm", "--here", "--partition", "gpu", "--no-check"});
    QVERIFY2(other.exitCode == 0, other.whole());
    const Answer refused = m_own.run({"run", "gpt-tiny", "--node", "other:2"});
    QVERIFY2(refused.exitCode == 3, refused.whole());
    QVERIFY2(refused.err.contains("its Slurm has no partition gpu; there are: main, urgent, v100"),
             refused.whole());
    const Answer tooMany =
        m_own.run(QStringList{"run", "gpt-tiny", "--node", "cluster:3"} + kOnePerNode);
    QVERIFY2(tooMany.err.contains("that is 3 nodes, and its partition main has 2"),
             tooMany.whole());
    const Answer tooLarge = m_own.run(QStringList{"run", "gpt-tiny", "--node", "cluster:2", "--set",
                                                  "launch.sbatch=['--mem=64M']"} +
                                          kOnePerNode,
                                      kDeadlineMs);
    QCOMPARE(tooLarge.exitCode, 8);
    QVERIFY2(tooLarge.err.contains("cluster has too little memory for gpt-tiny: it needs about "),
             tooLarge.whole());
    QVERIFY2(tooLarge.err.contains(", and 64.0 MiB are free; ask for more by "), tooLarge.whole());
}

void TestSlurm::aControllerThatIsDownIsSaidAndCanBeTriedAgain() {
    QFile known(m_cluster->configuration());
    QVERIFY(known.open(QIODevice::ReadOnly));
    QFile other(m_own.path("slurm.conf"));
    QVERIFY(other.open(QIODevice::WriteOnly));
    static const QRegularExpression kPort("SlurmctldPort=\\d+");
    const QString text = QString::fromUtf8(known.readAll());
    QVERIFY(text.contains(kPort));
    other.write(
        QString(text).replace(kPort, "SlurmctldPort=" + QString::number(freePort())).toUtf8());
    other.close();
    qputenv("SLURM_CONF", other.fileName().toLocal8Bit());
    const Answer run = m_own.run({"run", "gpt-tiny", "--node", "cluster:2"}, kDeadlineMs);
    qputenv("SLURM_CONF", m_cluster->configuration().toLocal8Bit());
    QCOMPARE(run.exitCode, static_cast<int>(ExitCode::kUnavailable));
    QVERIFY2(run.err.contains("ask Slurm on cluster: ") && run.err.contains("run sinfo"),
             run.whole());
}

void TestSlurm::theScriptIsPrintedAsItIsSubmitted() {
    const QStringList words = longRunWords("printed", 40, "cluster:2") + kOnePerNode +
                              QStringList{"--set", "launch.sbatch=['--comment=mine']", "--set",
                                          "launch.job_setup=['export MKL_VERBOSE=0', "
                                          "'echo set up \"on $SLURM_NNODES\" >&2']"};
    const Answer printed = m_own.run(words + QStringList{"--print-sbatch"});
    QVERIFY2(printed.exitCode == 0, printed.whole());
    QVERIFY2(printed.out.startsWith("#!/bin/bash\n"), printed.whole());
    QVERIFY2(printed.out.contains("\n#SBATCH --nodes=2\n"), printed.whole());
    QVERIFY2(printed.out.contains("\n#SBATCH --comment=mine\n"), printed.whole());
    QVERIFY2(printed.out.contains("\nexport MKL_VERBOSE=0\necho set up \"on $SLURM_NNODES\" >&2\n"),
             printed.whole());
    QVERIFY2(printed.out.contains("by default; its nodes have up to 4000 MB.\n"), printed.whole());
    QVERIFY(!find("printed"));
    QVERIFY(m_cluster->jobs().isEmpty());
    const Answer json = m_own.run(words + QStringList{"--print-sbatch", "--json"});
    QCOMPARE(json.json().object()["script"].toString().toUtf8(), printed.out);
    const Answer run = m_own.run(words + QStringList{"--wait"}, kDeadlineMs);
    QVERIFY2(run.exitCode == 0, run.whole() + whatIs("printed"));
    const QString id = find("printed")->id;
    QFile submitted(m_own.path("state/ringmaster/runs/" + id + "/job.sh"));
    QVERIFY(submitted.open(QIODevice::ReadOnly));
    QCOMPARE(submitted.readAll(), QByteArray(printed.out).replace("RUN_ID", id.toUtf8()));
    QCOMPARE(m_cluster->jobField(jobOf("printed"), "JobName"), id + ".1");
    const Answer own = m_own.run(words + QStringList{"--set", "launch.sbatch=['--nodes=4']"});
    QCOMPARE(own.exitCode, 2);
    QVERIFY2(own.err.contains("launch.sbatch holds \"--nodes=4\", but an option for sbatch must "
                              "leave nodes, tasks"),
             own.whole());
    // Without a number of ranks one node's count, of which two make a step of two.
    const QStringList two{"--set", "launch.ranks=2", "--set", "train.global_batch=2",
                          "--print-sbatch"};
    const Answer cut = m_own.run(longRunWords("cut", 40, "cluster") + two);
    QVERIFY2(cut.exitCode == 0, cut.whole());
    const Answer odd = m_own.run(longRunWords("odd", 40, "cluster:3") + two);
    QCOMPARE(odd.exitCode, 2);
    QVERIFY2(odd.err.contains("3 ranks take 3 at once"), odd.whole());
    const Answer none = m_own.run({"run", "gpt-tiny", "--print-sbatch"});
    QCOMPARE(none.exitCode, 2);
    QVERIFY2(none.err.contains("only a Slurm cluster gets a script"), none.whole());
}

void TestSlurm::theStepOfAJobGetsItsOptions() {
    QFile prolog(m_own.path("prolog"));
    QVERIFY(prolog.open(QIODevice::WriteOnly));
    prolog.write("#!/bin/sh\n: >\"" + m_own.path("begun-").toUtf8() + "$SLURM_PROCID\"\n");
    prolog.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    prolog.close();
    const QString options = "['--mpi=none', '--task-prolog=" + prolog.fileName() + "']";
    const Answer run = m_own.run(longRunWords("prolog", 40, "cluster:2") + kOnePerNode +
                                     QStringList{"--set", "launch.srun=" + options, "--wait"},
                                 kDeadlineMs);
    QVERIFY2(run.exitCode == 0, run.whole() + whatIs("prolog"));
    for (const char* task : {"0", "1"})
        QVERIFY2(QFile::exists(m_own.path("begun-") + task), whatIs("prolog"));
}

/// This machine, as the login node, has no GPU: they are the partition's.
void TestSlurm::aScriptForGpusIsTakenBySbatch() {
    const auto print = [this](const QString& options, const QStringList& more) {
        return m_own.run(longRunWords("on-gpus", 40, "cluster:2") +
                         QStringList{"--set", "launch.device=cuda", "--set",
                                     "launch.sbatch=['--partition=v100'" + options + "]",
                                     "--print-sbatch"} +
                         more);
    };
    for (const char* options : {"", ", '--gres=gpu:v100:2'", ", '-G 2'", ", '--gpus-per-task=2'",
                                ", '--cpus-per-gpu=1'"}) {
        const Answer printed = print(options, {});
        QVERIFY2(printed.exitCode == 0, printed.whole());
        QVERIFY2(printed.out.contains("# The trainer is that of cuda12, for GPUs v100."),
                 printed.whole());
        QFile script(m_own.path("gpus.sh"));
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write(printed.out);
        script.close();
        const auto taken = m_cluster->ask({"sbatch", "--test-only", script.fileName()});
        QVERIFY2(taken, taken ? "" : (taken.error().message + printed.out.toStdString()).c_str());
    }
    QVERIFY(print("", {}).out.contains("\n#SBATCH --gpus-per-node=2\n"));
    const Answer refused = print("", {"--set", "train.precision=bfloat16"});
    QCOMPARE(refused.exitCode, 2);
    QVERIFY2(refused.err.contains("which its v100 (sm_70) does not have"), refused.whole());
}

void TestSlurm::aRunIsOneJobThatTrainsToItsEnd() {
    const Answer run = m_own.run(longRunWords("whole", 40, "cluster:2") + kOnePerNode +
                                     QStringList{"--wait", "--json"},
                                 kDeadlineMs);
    QVERIFY2(run.exitCode == 0, run.whole() + whatIs("whole"));
    const auto whole = find("whole");
    QCOMPARE(whole->state, RunStateKind::kFinished);
    QCOMPARE(whole->step, int64_t{40});
    QCOMPARE(whole->nodes.size(), size_t{2});
    QCOMPARE(whole->attempt, 1);
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    const auto ranks = (*reader)->ranks(whole->id);
    QCOMPARE(ranks.size(), size_t{2});
    for (const StoredRank& rank : ranks)
        QCOMPARE(rank.step, int64_t{40});
    const QString job = jobOf("whole");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->jobField(job, "JobState"), QString("COMPLETED"),
                              kDeadlineMs);
    QCOMPARE(m_cluster->jobField(job, "ExitCode"), QString("0:0"));
    QCOMPARE(m_cluster->jobField(job, "NumNodes"), QString("2"));
}

void TestSlurm::aQueuedRunSaysItsPlaceAndIsStopped() {
    // By its time limit Slurm foresees when the next one starts.
    const auto other = submitForBothNodes("sleep 600", {"--time=20"});
    QVERIFY2(other, other ? "" : other.error().message.c_str());
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->jobField(*other, "JobState"), QString("RUNNING"),
                              kDeadlineMs);
    const auto waiting = launch("waits");
    const auto isReportedNow = [this] {
        const auto run = find("waits");
        return run && isQueued(*run) && run->message.contains("waits in the queue of Slurm, 1st") &&
               run->message.contains("in main (") &&
               run->message.contains("; expected to start at 20");
    };
    QTRY_VERIFY2_WITH_TIMEOUT(isReportedNow(), whatIs("waits"), kDeadlineMs);
    const Answer list = m_own.run({"runs"});
    QVERIFY2(list.out.contains("  queued  "), list.whole());
    const Answer shown = m_own.run({"show", "waits"});
    QVERIFY2(shown.out.contains("message     queued: job "), shown.whole());
    const QString job = jobOf("waits");
    const Answer stop = m_own.run({"stop", "waits", "--json"}, kDeadlineMs);
    QVERIFY2(stop.exitCode == 0, stop.whole() + whatIs("waits"));
    QVERIFY(hasEnded(*waiting));
    QVERIFY(hasState("waits", RunStateKind::kStopped));
    QCOMPARE(m_cluster->jobField(job, "JobState"), QString("CANCELLED"));
    QVERIFY(m_cluster->ask({"scancel", *other}));
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->jobs().isEmpty(), kDeadlineMs);
}

void TestSlurm::commandsReachTheRanksAndAPausedRunResumesAsAnotherJob() {
    const auto first = launch("obeys");
    trainBeyond("obeys", 1);
    const QString job = jobOf("obeys");
    const Answer hold = m_own.run({"hold", "obeys", "--json"});
    QVERIFY2(hold.exitCode == 0 && hold.json().object()["step"].toInt() > 0,
             hold.whole() + whatIs("obeys"));
    const Answer going = m_own.run({"continue", "obeys"});
    QVERIFY2(going.exitCode == 0, going.whole());
    const Answer pause = m_own.run({"pause", "obeys", "--json"});
    QVERIFY2(pause.exitCode == 0, pause.whole() + whatIs("obeys"));
    QVERIFY(hasEnded(*first));
    QVERIFY(hasState("obeys", RunStateKind::kPaused));
    const int64_t step = pause.json().object()["step"].toInteger();
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->jobField(job, "JobState"), QString("COMPLETED"),
                              kDeadlineMs);
    const auto second = m_own.start({"resume", "obeys", "--wait", "--json"});
    trainBeyond("obeys", 2);
    QCOMPARE(attempts("obeys").back().startStep, step);
    QVERIFY(jobOf("obeys") != job);
    killAndForget("obeys");
    QVERIFY(hasEnded(*second));
}

void TestSlurm::aJobThatIsCancelledStopsTheRun() {
    const auto process = launch("cancelled");
    trainBeyond("cancelled", 1);
    QVERIFY(m_cluster->ask({"scancel", jobOf("cancelled")}));
    QTRY_VERIFY2_WITH_TIMEOUT(hasState("cancelled", RunStateKind::kStopped), whatIs("cancelled"),
                              kDeadlineMs);
    QVERIFY2(find("cancelled")->message.contains("of Slurm was cancelled"), whatIs("cancelled"));
    QVERIFY(hasEnded(*process));
}

void TestSlurm::aJobThatIsCancelledUnwatchedIsToldByALook_data() {
    QTest::addColumn<bool>("queued");
    QTest::newRow("while it trains") << false;
    QTest::newRow("while it is queued") << true;
}

void TestSlurm::aJobThatIsCancelledUnwatchedIsToldByALook() {
    QFETCH(bool, queued);
    const QString name = queued ? "unseen-queued" : "unseen";
    QString other;
    if (queued) {
        const auto begun = submitForBothNodes("sleep 600");
        QVERIFY2(begun, begun ? "" : begun.error().message.c_str());
        other = *begun;
        QTRY_COMPARE_WITH_TIMEOUT(m_cluster->jobField(other, "JobState"), QString("RUNNING"),
                                  kDeadlineMs);
    }
    auto process = launch(name);
    const auto isQueuedThere = [&] {
        const auto run = find(name);
        return run && isQueued(*run);
    };
    if (queued)
        QTRY_VERIFY2_WITH_TIMEOUT(isQueuedThere(), whatIs(name), kDeadlineMs);
    else
        trainBeyond(name, 1);
    process.reset(); // nobody looks any more
    QVERIFY(m_cluster->ask({"scancel", jobOf(name)}));
    if (queued)
        QVERIFY(m_cluster->ask({"scancel", other}));
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->jobs().isEmpty(), kDeadlineMs);
    // Each look ends after some seconds, whatever it has heard.
    const auto isReportedByALook = [&] {
        const Answer shown = m_own.run({"show", name, "--json"});
        return shown.json().object()["state"].toString() == "stopped";
    };
    QTRY_VERIFY2_WITH_TIMEOUT(isReportedByALook(), whatIs(name), kDeadlineMs);
    QVERIFY2(find(name)->message.contains("of Slurm was cancelled"), whatIs(name));
}

/// By the signal alone it would be.
void TestSlurm::aJobThatIsCancelledWhenItWasSignalledIsNotStartedAgain() {
    const auto process = launch("signalled");
    trainBeyond("signalled", 1);
    const QString job = jobOf("signalled");
    QVERIFY(m_cluster->ask({"scancel", "--signal=USR1", job}));
    QVERIFY(m_cluster->ask({"scancel", job}));
    QTRY_VERIFY2_WITH_TIMEOUT(hasState("signalled", RunStateKind::kStopped), whatIs("signalled"),
                              kDeadlineMs);
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->jobs().isEmpty(), kDeadlineMs);
    QCOMPARE(m_cluster->jobField(job, "JobState"), QString("CANCELLED"));
    QCOMPARE(m_cluster->jobField(job, "Restarts"), QString("0"));
    QCOMPARE(attempts("signalled").size(), size_t{1});
    QVERIFY(hasEnded(*process));
}

void TestSlurm::theTimeLimitMakesACheckpointAndTheNextStartGoesOn() {
    // The shortest limit that Slurm knows. It looks every 30 s, and signals once less than 30 s
    // more than asked for are left: 20 to 50 s after the job's start.
    const auto process =
        launch("limited", {"--set", "launch.sbatch=['--time=1', '--signal=USR1@10']", "--set",
                           kNoneInPassing});
    trainBeyond("limited", 1);
    trainBeyond("limited", 2);
    verifySavedWhenNotified("limited");
    QVERIFY2(m_cluster->jobField(jobOf("limited"), "Restarts").toInt() >= 1, whatIs("limited"));
    killAndForget("limited");
    QVERIFY(hasEnded(*process));
}

void TestSlurm::aPreemptedRunGoesOnFromItsCheckpoint() {
    const auto process = launch("preempted", {"--set", kNoneInPassing});
    trainBeyond("preempted", 1);
    const auto urgent = submitForBothNodes("sleep 2", {"-p", "urgent"});
    QVERIFY2(urgent, urgent ? "" : urgent.error().message.c_str());
    trainBeyond("preempted", 2);
    verifySavedWhenNotified("preempted");
    QCOMPARE(m_cluster->jobField(*urgent, "JobState"), QString("COMPLETED"));
    killAndForget("preempted");
    QVERIFY(hasEnded(*process));
}

void TestSlurm::aNodeThatFailsHasTheRunStartedAgain() {
    const auto process = launch("failing");
    trainBeyond("failing", 1);
    const auto hasSaved = [this] {
        const auto reader = StoreReader::open(Paths::fromEnvironment().database());
        return reader && !(*reader)->checkpoints(find("failing")->id).empty();
    };
    QTRY_VERIFY_WITH_TIMEOUT(hasSaved(), kDeadlineMs);
    const auto failed = m_cluster->failNode(1);
    QVERIFY2(failed, failed ? "" : failed.error().message.c_str());
    const auto waits = [this] {
        const auto run = find("failing");
        return run && isQueued(*run);
    };
    QTRY_VERIFY2_WITH_TIMEOUT(waits(), whatIs("failing"), kDeadlineMs);
    const auto back = m_cluster->restoreNode(1);
    QVERIFY2(back, back ? "" : back.error().message.c_str());
    trainBeyond("failing", 2);
    QVERIFY(attempts("failing").back().startStep > 0);
    killAndForget("failing");
    QVERIFY(hasEnded(*process));
}

/// Everything again as far as it differs: the app reaches the login node by SSH alone, and the
/// trainer is brought to its home. The app's network has no way to the cluster's, whose nodes are
/// on the loopback there, so that the journals can come through the login node only.
void TestSlurm::throughALoginNode() {
    const auto can = canMakeNamespaces();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    const auto lab = NetworkLab::create("slurm");
    QVERIFY2(lab, lab ? "" : lab.error().message.c_str());
    const auto inside = EnteredSpace::enter(lab->node(0));
    QVERIFY2(inside, inside ? "" : inside.error().message.c_str());
    const auto cluster = SlurmCluster::start();
    if (!cluster)
        qWarning("%s", cluster.error().message.c_str()); // longer than a QVERIFY2() shows
    QVERIFY(cluster);
    const auto key = makeSshKey(m_own.path("key"));
    QVERIFY2(key, key ? "" : key.error().message.c_str());
    SshServer::Options options;
    options.authorizedKey = *key;
    options.address = NetworkLab::managementAddress(0);
    options.environment = {(*cluster)->environment(), paceOf()};
    const auto server = SshServer::start(options);
    QVERIFY2(server, server ? "" : server.error().message.c_str());
    const QString login = options.address + ':' + QString::number((*server)->port());

    QSet<QString> peers;
    QByteArray answer, errors;
    QProcess app;
    const auto runOnLaptop = [&](const QStringList& words) {
        const QStringList command =
            NetworkLab::commandIn(lab->laptop(), QStringList{program("ringmaster")} + words);
        app.start(command.front(), command.mid(1));
        bool isThere = false; // it is begun here and enters the other network then
        (void)!QTest::qWaitFor(
            [&] {
                const qint64 pid = app.processId();
                isThere = isThere || std::ranges::any_of(NetworkLab::processesIn(lab->laptop()),
                                                         [pid](const SeenProcess& process) {
                                                             return process.pid == pid;
                                                         });
                if (isThere)
                    peers += peersOf(pid);
                return app.state() == QProcess::NotRunning;
            },
            kDeadlineMs);
        answer = app.readAllStandardOutput();
        errors = app.readAllStandardError();
        return app.state() == QProcess::NotRunning && app.exitStatus() == QProcess::NormalExit &&
               app.exitCode() == 0;
    };
    const auto said = [&] { return answer + errors + (*cluster)->logs(); };
    QVERIFY2(runOnLaptop({"nodes", "add", "login", "--slurm", "--ssh", "root@" + login, "--key",
                          m_own.path("key"), "--fingerprint", (*server)->fingerprint(),
                          "--partition", "main", "--json"}),
             said());
    const QJsonDocument added = QJsonDocument::fromJson(answer);
    QVERIFY2(added.object()["ready"].toBool(), added.toJson());
    QVERIFY2(runOnLaptop(longRunWords("remote", 40, "login:2") + kOnePerNode +
                         QStringList{"--wait", "--json"}),
             said());
    QCOMPARE(find("remote")->state, RunStateKind::kFinished);
    QCOMPARE(find("remote")->step, int64_t{40});
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    QVERIFY(reader);
    const auto ranks = (*reader)->ranks(find("remote")->id);
    QCOMPARE(ranks.size(), size_t{2});
    for (const StoredRank& rank : ranks)
        QCOMPARE(rank.step, int64_t{40});
    QCOMPARE(peers, QSet<QString>{login});
}

QTEST_GUILESS_MAIN(TestSlurm)
#include "tst_slurm.moc"
