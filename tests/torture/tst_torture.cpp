// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/holder_place.h"
#include "app/core/store/run_summary.h"
#include "shared/checkpoint/manifest.h"
#include "shared/io/clock.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"
#include "tests/torture/hostile.h"
#include "tests/torture/scene.h"
#include "tests/torture/seeds.h"

#include <QDir>
#include <QTest>

#include <bit>
#include <csignal>

using namespace rm;
using namespace rm::torture;

/// Faults by number (tests/torture/run --list) and seed on real runs: nodes behind sshd, ranks over
/// Gloo, the app in a terminal. Each function is a fault, each row a seed.
class tst_torture : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void f1KilledRankLosesNothing_data() { test::addSeeds(); }
    void f1KilledRankLosesNothing();
    void f2StoppedRankIsNamed_data() { test::addSeeds(); }
    void f2StoppedRankIsNamed();
    void f3KilledAgentsLoseNothing_data() { test::addSeeds(); }
    void f3KilledAgentsLoseNothing();
    void f4KilledAppLosesAndDoublesNothing_data() { test::addSeeds(); }
    void f4KilledAppLosesAndDoublesNothing();
    void f5KilledNodeLosesNothing_data() { test::addSeeds(); }
    void f5KilledNodeLosesNothing();
    void f6CutLinkToTheAppLosesNothing_data() { test::addSeeds(); }
    void f6CutLinkToTheAppLosesNothing();
    void f7CutBetweenRanksHeals_data() { test::addSeeds(); }
    void f7CutBetweenRanksHeals();
    void f7CutThatStaysIsTold_data() { test::addSeeds(); }
    void f7CutThatStaysIsTold();
    void f10FullDiskOfAJournalLosesNothing_data() { test::addSeeds(); }
    void f10FullDiskOfAJournalLosesNothing();
    void f10FullDiskOfCheckpointsKeepsTheOldOnes_data() { test::addSeeds(); }
    void f10FullDiskOfCheckpointsKeepsTheOldOnes();
    void f10FullDiskOfTheAppLosesNothing_data() { test::addSeeds(); }
    void f10FullDiskOfTheAppLosesNothing();
    void f13DamageIsFoundBeforeAWeightIsUsed_data() { test::addSeeds(); }
    void f13DamageIsFoundBeforeAWeightIsUsed();
    void f15HostileBytesChangeNothing_data() { test::addSeeds(); }
    void f15HostileBytesChangeNothing();
    void f22CommandsAtTheWorstMomentsActOnce_data() {
        test::addSeeds({14}); // the stop of a launch waited five minutes for an attempt to end
    }
    void f22CommandsAtTheWorstMomentsActOnce();
    void f23OneFaultAfterAnotherLosesNothing_data() { test::addSeeds(); }
    void f23OneFaultAfterAnotherLosesNothing();

private:
    // Faults of a soak: "" or what is wrong.
    QByteArray killRank(const QString& run);
    QByteArray killNode(const QString& run);
    QByteArray killAgents(const QString& run);
    QByteArray killApp(const QString& run);
    QByteArray cutRanks(const QString& run);
    QByteArray cutApp(const QString& run);
    QByteArray pause(const QString& run);
    /// Resumes it if the fault ends the attempt.
    /// Starts the random numbers of the row's seed.
    void seed() { m_random = test::randomOfRow(); }
    int64_t random(int64_t first, int64_t last) {
        return std::uniform_int_distribution<int64_t>(first, last)(m_random);
    }
    int randomNode() { return static_cast<int>(random(0, 1)); }
    /// Waits for a step of the first 300 behind the first two checkpoints; the second is begun when
    /// the first is there.
    bool waitForRandomStep(const QString& run) {
        return m_scene->waitForOracleStep(run, random(101, 300));
    }
    const Cli& cli() const { return m_scene->cli(); }
    Testbed& bed() const { return m_scene->bed(); }

    std::unique_ptr<Scene> m_scene;
    std::mt19937_64 m_random;
};

void tst_torture::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto scene = Scene::create();
    QVERIFY2(scene, scene ? "" : scene.error().message.c_str());
    m_scene = std::move(*scene);
}

void tst_torture::cleanup() {
    if (!m_scene)
        return;
    if (QTest::currentTestFailed())
        qInfo("%s", m_scene->reportAndClean().constData());
    m_scene->dropApp();
    QTRY_COMPARE_WITH_TIMEOUT(bed().strayProcesses(), QString(), 10000);
}

void tst_torture::f1KilledRankLosesNothing() {
    seed();
    const QString run = m_scene->launch();
    QVERIFY(waitForRandomStep(run));
    m_scene->signal(randomNode(), "ringmaster-trainer", SIGKILL);
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

void tst_torture::f2StoppedRankIsNamed() {
    seed();
    const QString run = m_scene->launch();
    const int victim = randomNode();
    QVERIFY(waitForRandomStep(run));
    m_scene->signal(victim, "ringmaster-trainer", SIGSTOP);
    QTRY_VERIFY_WITH_TIMEOUT(m_scene->hasEvent(run, "rank-hangs", victim), 30000);
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

// Those that supervise and those that serve the app.
void tst_torture::f3KilledAgentsLoseNothing() {
    seed();
    const QString run = m_scene->launch();
    for (const int64_t step : {20, 120, 220}) {
        QVERIFY(m_scene->waitForOracleStep(run, step + random(0, 90)));
        m_scene->signal(randomNode(), "ringmaster-agent", SIGKILL);
    }
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

void tst_torture::f4KilledAppLosesAndDoublesNothing() {
    seed();
    const QString run = m_scene->launch(1000000);
    QVERIFY(m_scene->waitForOracleStep(run, 1));
    for (int kill = 0; kill < 50; ++kill) {
        const int64_t before = m_scene->oracleStep(run);
        // It follows until it is killed.
        QVERIFY(!m_scene->app().waitForFinished(static_cast<int>(random(1, 1500))));
        m_scene->app().kill();
        QVERIFY(m_scene->app().waitForFinished(5000));
        QCOMPARE(integrityOf(cli().database()), std::string("ok"));
        QVERIFY(m_scene->waitForOracleStep(run, before + 1)); // training goes on
        m_scene->attach(run);
    }
    const CliResult stopped = cli().run({"stop", run});
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QVERIFY(m_scene->app().waitForFinished(20000));
    QCOMPARE(m_scene->summary(run).state, RunStateKind::kStopped);
    QCOMPARE(m_scene->flawOfPart(run), QByteArray());
}

void tst_torture::f5KilledNodeLosesNothing() {
    seed();
    const QString run = m_scene->launch();
    const int node = randomNode();
    QVERIFY(waitForRandomStep(run));
    for (const char* program : {"ringmaster-agent", "ringmaster-trainer"})
        m_scene->signal(node, program, SIGKILL);
    const int64_t killedNs = wallNowNs();
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawInSpool(run, node, 1, killedNs), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

void tst_torture::f6CutLinkToTheAppLosesNothing() {
    seed();
    const QString run = m_scene->launch();
    QVERIFY(waitForRandomStep(run));
    const auto cut = static_cast<unsigned>(random(1, 3)); // either node, or both
    for (int node = 0; node < NetworkLab::kNodes; ++node)
        if (cut >> node & 1)
            QVERIFY(bed().lab().setManagementLink(node, false));
    const auto lost = static_cast<size_t>(std::popcount(cut));
    const bool isReported =
        QTest::qWaitFor([&] { return m_scene->summary(run).lostNodes.size() == lost; }, 40000);
    const bool isDone = m_scene->waitForOracleStep(run, Scene::kSteps);
    for (int node = 0; node < NetworkLab::kNodes; ++node)
        QVERIFY(bed().lab().setManagementLink(node, true));
    QVERIFY(isReported && isDone);
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

void tst_torture::f7CutBetweenRanksHeals() {
    seed();
    const QString run = m_scene->launch();
    QVERIFY(waitForRandomStep(run));
    QVERIFY(bed().lab().setDataLink(false));
    const bool isOver = m_scene->app().waitForFinished(static_cast<int>(random(500, 4000)));
    QVERIFY(bed().lab().setDataLink(true));
    QVERIFY(!isOver);
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

void tst_torture::f7CutThatStaysIsTold() {
    seed();
    const QString run = m_scene->launch();
    QVERIFY(waitForRandomStep(run));
    QVERIFY(bed().lab().setDataLink(false));
    const bool isReported =
        QTest::qWaitFor([&] { return m_scene->hasEvent(run, "rank-hangs", -1); }, 40000);
    const bool isWaiting =
        QTest::qWaitFor([&] { return m_scene->hasEvent(run, "waits-for-nodes", -1); }, 90000);
    QVERIFY(bed().lab().setDataLink(true));
    QVERIFY(isReported && isWaiting);
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

void tst_torture::f10FullDiskOfAJournalLosesNothing() {
    seed();
    SshServer& server = bed().server(1);
    {
        const SmallDisk disk(server.home() + "/state", "16m");
        QVERIFY(disk.isMounted());
        QVERIFY(server.restart()); // its namespace sees mounts from before its start
        const QString run = m_scene->launch();
        QVERIFY(waitForRandomStep(run));
        disk.fill();
        QVERIFY(m_scene->waitForOracleStep(run, m_scene->oracleStep(run) + 50)); // it does not wait
        disk.empty();
        QCOMPARE(m_scene->awaitFinish(run), QByteArray());
        QVERIFY(m_scene->hasEvent(run, "disk-full", 1));
        QCOMPARE(m_scene->flawOf(run), QByteArray());
        server.stop();
    }
    QVERIFY(server.restart());
}

void tst_torture::f10FullDiskOfCheckpointsKeepsTheOldOnes() {
    seed();
    SshServer& server = bed().server(0);
    {
        const QString folder = bed().path("checkpoints");
        const SmallDisk disk(folder, "16m");
        QVERIFY(disk.isMounted());
        QVERIFY(server.restart());
        const QString run =
            m_scene->launch(Scene::kSteps, {"--set", "checkpoint.directory=" + folder});
        QVERIFY(waitForRandomStep(run));
        disk.fill();
        QTRY_VERIFY_WITH_TIMEOUT(m_scene->hasEvent(run, "checkpoint-failed", 0), 60000);
        const QDir checkpoints(folder + "/" + run);
        QVERIFY(!checkpoints.entryList({"step-*"}).isEmpty());
        for (const QString& name : checkpoints.entryList({"step-*"})) {
            const auto whole = verifyCheckpoint(checkpoints.filePath(name).toStdString());
            QVERIFY2(whole, whole ? "" : whole.error().message.c_str());
        }
        disk.empty();
        QCOMPARE(m_scene->awaitFinish(run), QByteArray());
        QCOMPARE(m_scene->flawOf(run, checkpoints.path()), QByteArray());
        server.stop();
    }
    QVERIFY(server.restart());
}

void tst_torture::f10FullDiskOfTheAppLosesNothing() {
    seed();
    const Cli other(bed().path("other"), bed().lab().laptop());
    const SmallDisk disk(other.home() + "/data", "32m");
    QVERIFY(disk.isMounted());
    const auto added = bed().addNodes(other);
    QVERIFY2(added, added ? "" : added.error().message.c_str());
    m_scene->use(other);
    const QString run = m_scene->launch();
    QVERIFY(waitForRandomStep(run));
    disk.fill();
    QVERIFY(m_scene->waitForOracleStep(run, m_scene->oracleStep(run) + 50));
    disk.empty();
    if (m_scene->app().waitForFinished(2000))
        m_scene->attach(run);
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
    m_scene->use(bed().laptop());
}

void tst_torture::f13DamageIsFoundBeforeAWeightIsUsed() {
    seed();
    const QString run = m_scene->launch();
    QVERIFY(waitForRandomStep(run));
    const CliResult paused = cli().run({"pause", run});
    QVERIFY2(paused.exitCode == 0, paused.whole());
    QVERIFY(m_scene->app().waitForFinished(20000));
    const auto all = listCheckpoints((m_scene->part(0, run) + "/checkpoints").toStdString());
    QVERIFY(all && all->size() > 1);
    DamagedCopy copy(all->back().path, all->front().path);
    for (int round = 0; round < 1000; ++round) {
        const QByteArray what = copy.damage(m_random);
        QVERIFY2(!verifyCheckpoint(copy.folder()), what);
        copy.repair();
    }
    const auto whole = verifyCheckpoint(copy.folder());
    QVERIFY2(whole, whole ? "" : whole.error().message.c_str());
    // And by the rank that is to go on from it, which takes the one before.
    DamagedCopy newest(all->back().path, all->front().path, all->back().path);
    const QByteArray what = newest.damage(m_random);
    const CliResult resumed = cli().run({"resume", run, "--wait"}, 120000);
    QVERIFY2(resumed.exitCode == 0, what + resumed.whole());
    QVERIFY2(m_scene->hasEvent(run, kCheckpointDamagedEvent, 0), what);
    newest.repair();
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

void tst_torture::f15HostileBytesChangeNothing() {
    seed();
    const QString run = m_scene->launch();
    QVERIFY(waitForRandomStep(run));
    const auto face = socketFor(cli().database());
    QVERIFY(face);
    for (int round = 0; round < 100; ++round) {
        QCOMPARE(answerTo(m_scene->part(0, run) + "/agent.sock", hostileBytes(m_random)),
                 QByteArray());
        QCOMPARE(answerTo(*face, hostileBytes(m_random)), QByteArray());
    }
    for (const char* command : {"hold", "continue"}) {
        const CliResult obeyed = cli().run({command, run});
        QVERIFY2(obeyed.exitCode == 0, obeyed.whole());
    }
    QCOMPARE(m_scene->awaitFinish(run), QByteArray());
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

void tst_torture::f22CommandsAtTheWorstMomentsActOnce() {
    seed();
    const QString run = m_scene->launch();
    QVERIFY(waitForRandomStep(run));
    const CliResult deleted = cli().run({"delete", run});
    QVERIFY2(deleted.exitCode > 0 && deleted.whole().contains("running"), deleted.whole());
    // A pause while a checkpoint is written.
    const auto checkpoint = cli().start({"checkpoint", run});
    QVERIFY(!checkpoint->waitForFinished(static_cast<int>(random(1, 300))) ||
            checkpoint->exitCode() == 0);
    const CliResult paused = cli().run({"pause", run});
    QVERIFY2(paused.exitCode == 0, paused.whole());
    QVERIFY(checkpoint->waitForFinished(20000));
    QVERIFY(m_scene->app().waitForFinished(20000));
    QCOMPARE(m_scene->summary(run).state, RunStateKind::kPaused);
    // Two resumes at once are one attempt.
    const auto one = cli().start({"resume", run});
    const auto other = cli().start({"resume", run});
    QVERIFY(one->waitForFinished(60000) && other->waitForFinished(60000));
    const QByteArray said = one->readAllStandardError() + other->readAllStandardError();
    QVERIFY2((one->exitCode() == 0) != (other->exitCode() == 0), said);
    QCOMPARE(m_scene->summary(run).attempt, 2);
    // A stop while it is started anew; few steps are left, which may be done by now.
    const CliResult again = cli().run({"pause", run});
    QVERIFY2(again.exitCode == 0 || again.whole().contains("had ended by then: finished") ||
                 m_scene->summary(run).state == RunStateKind::kFinished,
             again.whole());
    const auto resume = cli().start({"resume", run});
    static_cast<void>(resume->waitForFinished(static_cast<int>(random(1, 3000))));
    const CliResult stopped = cli().run({"stop", run});
    QVERIFY(resume->state() == QProcess::NotRunning || resume->waitForFinished(60000));
    m_scene->attach(run);
    QVERIFY(m_scene->app().waitForFinished(60000));
    const RunStateKind state = m_scene->summary(run).state;
    QVERIFY(hasEnded(state));
    QVERIFY(stopped.exitCode >= 0); // whatever it found, it told
    if (state != RunStateKind::kFinished) {
        const CliResult last = cli().run({"resume", run, "--wait"}, 120000);
        QVERIFY2(last.exitCode == 0, last.whole());
    }
    QCOMPARE(m_scene->flawOf(run), QByteArray());
}

QByteArray tst_torture::killRank(const QString&) {
    m_scene->signal(randomNode(), "ringmaster-trainer", SIGKILL);
    return {};
}

QByteArray tst_torture::killNode(const QString&) {
    const int node = randomNode();
    for (const char* program : {"ringmaster-agent", "ringmaster-trainer"})
        m_scene->signal(node, program, SIGKILL);
    return {};
}

QByteArray tst_torture::killAgents(const QString&) {
    m_scene->signal(randomNode(), "ringmaster-agent", SIGKILL);
    return {};
}

QByteArray tst_torture::killApp(const QString& run) {
    m_scene->app().kill();
    m_scene->app().waitForFinished(5000);
    m_scene->attach(run);
    return {};
}

QByteArray tst_torture::cutRanks(const QString&) {
    if (!bed().lab().setDataLink(false))
        return "cannot cut the link";
    static_cast<void>(m_scene->app().waitForFinished(static_cast<int>(random(100, 3000))));
    return bed().lab().setDataLink(true) ? QByteArray() : "cannot heal the link";
}

QByteArray tst_torture::cutApp(const QString&) {
    const int node = randomNode();
    if (!bed().lab().setManagementLink(node, false))
        return "cannot cut the link";
    static_cast<void>(m_scene->app().waitForFinished(static_cast<int>(random(100, 12000))));
    return bed().lab().setManagementLink(node, true) ? QByteArray() : "cannot heal the link";
}

QByteArray tst_torture::pause(const QString& run) {
    const CliResult paused = cli().run({"pause", run});
    if (paused.exitCode != 0 || !m_scene->app().waitForFinished(20000))
        return paused.whole();
    m_scene->resume(run);
    return {};
}

void tst_torture::f23OneFaultAfterAnotherLosesNothing() {
    seed();
    const QString run = m_scene->launch(1000000);
    QVERIFY(m_scene->waitForOracleStep(run, 101)); // a first checkpoint is there
    QByteArray story;
    const int faults = test::isLong() ? 60 : 4;
    for (int fault = 0; fault < faults; ++fault) {
        using Act = QByteArray (tst_torture::*)(const QString&);
        static constexpr std::pair<const char*, Act> kActs[] = {
            {"kill a rank", &tst_torture::killRank},
            {"kill a node", &tst_torture::killNode},
            {"kill agents", &tst_torture::killAgents},
            {"kill the app", &tst_torture::killApp},
            {"cut the ranks", &tst_torture::cutRanks},
            {"cut the app", &tst_torture::cutApp},
            {"pause", &tst_torture::pause},
        };
        const auto& [name, act] = kActs[random(0, std::size(kActs) - 1)];
        story += QByteArray(", ") + name;
        const QByteArray flaw = (this->*act)(run);
        QVERIFY2(flaw.isEmpty(), story + ": " + flaw);
        QVERIFY2(m_scene->waitForOracleStep(run, m_scene->oracleStep(run) + random(1, 80)), story);
    }
    const CliResult stopped = cli().run({"stop", run});
    QVERIFY2(stopped.exitCode == 0, story + stopped.whole());
    QVERIFY(m_scene->app().waitForFinished(20000));
    const QByteArray flaw = m_scene->flawOfPart(run);
    QVERIFY2(flaw.isEmpty(), story + ": " + flaw);
}

QTEST_GUILESS_MAIN(tst_torture)
#include "tst_torture.moc"
