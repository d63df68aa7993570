// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "shared/journal/event_codes.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"
#include "tests/torture/node_faults.h"
#include "tests/torture/scene.h"
#include "tests/torture/seeds.h"

#include <QDir>
#include <QFile>
#include <QLocalSocket>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

using namespace rm;
using namespace rm::torture;

namespace {

constexpr int64_t kDayNs = 86'400'000'000'000;

bool writeTo(const QString& path, const QByteArray& text) {
    QFile file(path);
    return file.open(QIODevice::WriteOnly | QIODevice::Unbuffered) &&
           file.write(text) == text.size();
}

/// A control group whose processes may together take little more memory than they have when they
/// come into it; of cgroup v1. It must be empty in the end.
class LittleMemory {
public:
    LittleMemory() {
        m_isMade =
            QDir().mkdir(m_folder) && writeTo(m_folder + "/memory.limit_in_bytes", "16777216");
    }
    ~LittleMemory() {
        (void)QTest::qWaitFor([this] { return QDir().rmdir(m_folder); }, 10000);
    }
    LittleMemory(const LittleMemory&) = delete;
    LittleMemory& operator=(const LittleMemory&) = delete;

    bool isMade() const { return m_isMade; }
    bool add(pid_t pid) const {
        return writeTo(m_folder + "/cgroup.procs", QByteArray::number(pid));
    }
    /// Another process of the group takes so much that the kernel must end the largest of them.
    void exhaust(const QString& tmpfs) const {
        const QString script = "echo $$ > " + m_folder + "/cgroup.procs; " +
                               "exec head -c 67108864 /dev/zero > " + tmpfs + "/filler";
        QProcess hog;
        hog.start("sh", {"-c", script});
        hog.waitForFinished(20000);
    }

private:
    QString m_folder =
        QString("/sys/fs/cgroup/memory/rm-torture-%1").arg(QCoreApplication::applicationPid());
    bool m_isMade = false;
};

bool limitDescriptors(pid_t pid, rlim_t most) {
    rlimit limit{};
    if (::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0)
        return false;
    limit.rlim_cur = most;
    return ::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr) == 0;
}

} // namespace

/// Faults of the machines under a run: their disks, clocks, memory and files.
class tst_torture_machines : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void f11FailedSaveIsNeverPublished_data() { test::addSeeds(); }
    void f11FailedSaveIsNeverPublished();
    void f11FailingDiskOfARunLosesNothing_data() { test::addSeeds(); }
    void f11FailingDiskOfARunLosesNothing();
    void f11ReadOnlyDiskIsNamedAndLosesNothing_data() { test::addSeeds(); }
    void f11ReadOnlyDiskIsNamedAndLosesNothing();
    void f11KillOnAReadOnlyDiskSaysWhatIsLeft_data() { test::addSeeds(); }
    void f11KillOnAReadOnlyDiskSaysWhatIsLeft();
    void f18JumpingClocksChangeNothing_data() { test::addSeeds(); }
    void f18JumpingClocksChangeNothing();
    void f19RankThatMemoryRanOutForIsToldSo_data() { test::addSeeds(); }
    void f19RankThatMemoryRanOutForIsToldSo();
    void f19AgentWithoutDescriptorsLivesOn_data() { test::addSeeds(); }
    void f19AgentWithoutDescriptorsLivesOn();

private:
    /// From now on that share of writes and syncs fails, of files whose path contains `part`, or
    /// ends with it.
    void failDisk(int node, const char* part, int64_t perMille, bool isEnd = false);
    void heal();
    /// "" or what is wrong: the folders of checkpoints are those that the app was told of. One that
    /// failed and was published all the same would be another.
    QByteArray flawInPublished(const QString& run) const;

    int64_t random(int64_t first, int64_t last) {
        return std::uniform_int_distribution<int64_t>(first, last)(m_random);
    }
    int randomNode() { return static_cast<int>(random(0, 1)); }
    const Cli& cli() const { return m_scene->cli(); }
    NodeFaults& faults(int node) { return *m_faults[static_cast<size_t>(node)]; }

    QTemporaryDir m_folder;
    std::array<NodeFaults*, NetworkLab::kNodes> m_faults{};
    std::unique_ptr<Scene> m_scene;
    std::mt19937_64 m_random;
};

void tst_torture_machines::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    for (int node = 0; node < NetworkLab::kNodes; ++node) {
        const QString path = m_folder.filePath("faults-" + QString::number(node));
        m_faults[static_cast<size_t>(node)] = mapFaults(qPrintable(path), O_RDWR | O_CREAT);
        QVERIFY(m_faults[static_cast<size_t>(node)]);
    }
    auto scene = Scene::create(
        {QString(kFaultsVariable) + "=" + m_folder.filePath("faults-{node}"),
         "LD_PRELOAD=" + qEnvironmentVariable("RINGMASTER_BUILD") + "/tests/libfaulty_node.so"});
    QVERIFY2(scene, scene ? "" : scene.error().message.c_str());
    m_scene = std::move(*scene);
}

void tst_torture_machines::cleanup() {
    if (!m_scene)
        return;
    heal();
    if (QTest::currentTestFailed())
        qInfo("%s", m_scene->reportAndClean().constData());
    m_scene->dropApp();
    QTRY_COMPARE_WITH_TIMEOUT(m_scene->bed().strayProcesses(), QString(), 10000);
}

void tst_torture_machines::failDisk(int node, const char* part, int64_t perMille, bool isEnd) {
    NodeFaults& disk = faults(node);
    std::memset(disk.diskPart, 0, sizeof disk.diskPart);
    std::strncpy(disk.diskPart, part, sizeof disk.diskPart - 1);
    disk.diskPartIsEnd = isEnd;
    disk.diskSeed = static_cast<uint32_t>(m_random());
    disk.diskCalls = 0;
    disk.diskErrors = 0;
    disk.diskPerMille = static_cast<uint32_t>(perMille);
}

void tst_torture_machines::heal() {
    for (NodeFaults* one : m_faults) {
        one->diskPerMille = 0;
        one->diskIsReadOnly = false;
        one->clockAheadNs = 0;
    }
}

QByteArray tst_torture_machines::flawInPublished(const QString& run) const {
    const auto reader = StoreReader::open(cli().database());
    if (!reader)
        return QByteArray::fromStdString(reader.error().message);
    QStringList known;
    for (const StoredCheckpoint& checkpoint : (*reader)->checkpoints(run))
        if (!checkpoint.removed)
            known.prepend(QString::fromStdString(checkpoint.saved.path).section('/', -1));
    const QStringList there =
        QDir(m_scene->part(0, run) + "/checkpoints")
            .entryList(QDir::Dirs | QDir::Hidden | QDir::NoDotAndDotDot, QDir::Name);
    return there == known ? QByteArray()
                          : "there are " + there.join(", ").toUtf8() + ", but told were " +
                                known.join(", ").toUtf8();
}

void tst_torture_machines::f11FailedSaveIsNeverPublished() {
    m_random = test::randomOfRow();
    // So that one that was published by mistake is still there in the end.
    const QString run = m_scene->launch(Scene::kSteps, {"--set", "checkpoint.keep_last=100"});
    // Its last call: all is in place, but nobody knows for how long.
    QVERIFY(m_scene->waitForOracleStep(run, random(51, 150)));
    failDisk(0, "/checkpoints", 1000, true);
    QTRY_VERIFY_WITH_TIMEOUT(faults(0).diskErrors > 0, 60000);
    heal();
    QVERIFY(m_scene->waitForOracleStep(run, random(201, 280)));
    failDisk(0, "/checkpoints", random(50, 300));
    QTRY_VERIFY_WITH_TIMEOUT(faults(0).diskErrors > 0, 60000);
    heal();
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
    QCOMPARE(flawInPublished(run), QByteArray());
    const QByteArray words = m_scene->wordsOf(run, "checkpoint-failed");
    QVERIFY2(words.count('\n') >= 2 && words.contains(": sync "), words);
}

void tst_torture_machines::f11FailingDiskOfARunLosesNothing() {
    m_random = test::randomOfRow();
    const QString run = m_scene->launch();
    QVERIFY(m_scene->waitForOracleStep(run, random(51, 200)));
    const int node = randomNode();
    failDisk(node, "/ringmaster/runs/", random(300, 700));
    const CliResult saved = cli().run({"checkpoint", run});
    QVERIFY(saved.exitCode >= 0); // whatever came of it, it is answered
    QTRY_VERIFY_WITH_TIMEOUT(faults(node).diskErrors > 5, 20000);
    // Training does not wait.
    const int64_t later = std::min(m_scene->oracleStep(run) + 30, Scene::kSteps);
    QVERIFY(m_scene->waitForOracleStep(run, later));
    heal();
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
    QCOMPARE(flawInPublished(run), QByteArray());
    QCOMPARE(m_scene->summary(run).attempt, 1);
    qInfo("%d errors in %d calls", static_cast<int>(faults(node).diskErrors),
          static_cast<int>(faults(node).diskCalls));
}

void tst_torture_machines::f11ReadOnlyDiskIsNamedAndLosesNothing() {
    m_random = test::randomOfRow();
    const QString run = m_scene->launch();
    QVERIFY(m_scene->waitForOracleStep(run, random(51, 80)));
    failDisk(1, "/ringmaster/runs/", 0);
    faults(1).diskIsReadOnly = true;
    const QByteArray named = "the disk of the run's folder on node-b takes nothing";
    CliResult shown;
    const auto isNamed = [&] {
        shown = cli().run({"show", run});
        return shown.out.contains(named);
    };
    QTRY_VERIFY2_WITH_TIMEOUT(isNamed(), shown.whole(), 20000);
    // A pause would lose what the rank keeps.
    const CliResult paused = cli().run({"pause", run}, 60000);
    QVERIFY2(paused.exitCode == static_cast<int>(ExitCode::kExhausted) &&
                 paused.err.contains(named),
             paused.whole());
    QTRY_VERIFY_WITH_TIMEOUT(m_scene->hasEvent(run, "journal-unwritten", -1), 60000);
    const QByteArray words = m_scene->wordsOf(run, "journal-unwritten");
    QVERIFY2(words.contains("rank 1 cannot write its journal") &&
                 words.contains("Read-only file system"),
             words);
    heal();
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
    QCOMPARE(flawInPublished(run), QByteArray());
    QVERIFY(faults(1).diskErrors > 5);
}

void tst_torture_machines::f11KillOnAReadOnlyDiskSaysWhatIsLeft() {
    m_random = test::randomOfRow();
    const QString run = m_scene->launch();
    QVERIFY(m_scene->waitForOracleStep(run, random(51, 80)));
    failDisk(1, "/ringmaster/runs/", 0);
    faults(1).diskIsReadOnly = true;
    const CliResult killed = cli().run({"kill", run}, 100000);
    QVERIFY2(killed.exitCode == static_cast<int>(ExitCode::kUnavailable) &&
                 killed.err.contains("its ranks have ended, which is not written down yet") &&
                 killed.err.contains("is on a disk that is read-only now"),
             killed.whole());
    for (const int node : {0, 1})
        QCOMPARE(m_scene->bed().processesNamed(node, "ringmaster-trainer"), 0);
    QVERIFY(!m_scene->bed().strayProcesses().isEmpty()); // the agent, which has to write it
    heal();
    QTRY_COMPARE_WITH_TIMEOUT(m_scene->bed().strayProcesses(), QString(), 30000);
    QTRY_VERIFY_WITH_TIMEOUT(wasKilled(m_scene->summary(run)), 30000);
    QVERIFY(!m_scene->summary(run).isPresumed);
}

void tst_torture_machines::f18JumpingClocksChangeNothing() {
    m_random = test::randomOfRow();
    const int skewed = randomNode();
    faults(skewed).clockAheadNs = random(0, 1) ? kDayNs : -kDayNs;
    const QString run = m_scene->launch();
    for (const int64_t step : {30, 120, 210, 300}) {
        QVERIFY(m_scene->waitForOracleStep(run, step + random(0, 60)));
        faults(randomNode()).clockAheadNs = random(-1, 1) * kDayNs;
    }
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
    QCOMPARE(m_scene->summary(run).attempt, 1);
    const OracleSteps recorded = m_scene->recorded(run).at(skewed);
    const int64_t skewNs = recorded.front().wallNs - wallNowNs();
    QVERIFY(std::abs(skewNs) > kDayNs / 2); // as a rank sees it
    for (int rank = -1; rank < Scene::kRanks; ++rank)
        for (const char* code : {"rank-hangs", kNodeLostEvent})
            QVERIFY2(!m_scene->hasEvent(run, code, rank), code);
}

void tst_torture_machines::f19RankThatMemoryRanOutForIsToldSo() {
    m_random = test::randomOfRow();
    const LittleMemory group;
    RM_NEEDS("root", group.isMade(), QString("no memory cgroup (v1) can be made"));
    const SmallDisk memory(m_folder.filePath("memory"), "128m");
    QVERIFY(memory.isMounted());
    const QString run = m_scene->launch();
    const int victim = randomNode();
    QVERIFY(m_scene->waitForOracleStep(run, random(101, 250)));
    const auto ranks = m_scene->bed().processes(victim, "ringmaster-trainer");
    QVERIFY(ranks.size() == 1 && group.add(ranks.front()));
    group.exhaust(m_folder.filePath("memory"));
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    const QByteArray words = m_scene->wordsOf(run, kRestartsEvent);
    QVERIFY2(words.contains("out of memory"), words);
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

void tst_torture_machines::f19AgentWithoutDescriptorsLivesOn() {
    m_random = test::randomOfRow();
    const QString run = m_scene->launch(1000000);
    QVERIFY(m_scene->waitForOracleStep(run, 60));
    const auto agents = m_scene->bed().processes(0, "ringmaster-agent", "start");
    QVERIFY(agents.size() == 1);
    const pid_t agent = agents.front();
    const auto open =
        QDir(QString("/proc/%1/fd").arg(agent)).entryList(QDir::NoDotAndDotDot | QDir::AllEntries);
    QVERIFY(limitDescriptors(agent, static_cast<rlim_t>(open.size())));
    QLocalSocket caller;
    const QFileInfo socket(m_scene->part(0, run) + "/agent.sock");
    const Descriptor folder(::open(qPrintable(socket.path()), O_PATH | O_CLOEXEC));
    caller.connectToServer(QString("/proc/self/fd/%1/agent.sock").arg(folder.get()));
    QVERIFY(caller.waitForConnected(5000));
    QVERIFY(m_scene->waitForOracleStep(run, m_scene->oracleStep(run) + 60)); // training goes on
    QCOMPARE(m_scene->bed().processes(0, "ringmaster-agent", "start"), agents);
    QVERIFY(limitDescriptors(agent, 1024));
    caller.abort();
    for (const char* command : {"hold", "continue", "stop"}) {
        const CliResult obeyed = cli().run({command, run});
        QVERIFY2(obeyed.exitCode == 0, obeyed.whole());
    }
    QVERIFY(m_scene->app().waitForFinished(20000));
    QCOMPARE(m_scene->flawOfPart(run), QByteArray());
}

QTEST_GUILESS_MAIN(tst_torture_machines)
#include "tst_torture_machines.moc"
