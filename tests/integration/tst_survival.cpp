// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "shared/journal/segment.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonValue>
#include <QScopeGuard>
#include <QTest>

#include <csignal>
#include <utility>

using namespace rm;

namespace {

const QStringList kBothNodes = {"--node", "node-a:1", "--node", "node-b:1"};

} // namespace

/// Parts of a run that die, hang, are cut or shared, on two nodes over SSH.
class tst_survival : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void killedAgentsLeaveARunThatObeysAndFinishes();
    void aHeldRunIsHeldAfterARestart();
    void stoppedAgentIsReplacedWhenItIsNeeded();
    void journalsThatAreCutLoseNoLaterStep();
    void nodesThatShareAHomeTrainTogether();
    void aFolderThatIsAwayForAMomentIsFollowedAgain();
    void anEndThatWasConcludedIsCorrectedByWhatIsReadLater();
    void aFolderThatWasRemovedOnOneNodeEndsTheRunByItsName();
    void commandsForANodeThatIsCutOffOutliveTheApp();
    void aPauseIsObeyedThoughAnotherNodesAgentHangs();
    void aNodeThatWentOnAloneIsEndedAndLeftOut();
    void whatANodeDeclaredLostHadMadeBeforeIsRead();
    void aKillOfARunThatWentOnElsewhereEndsTheNodeThatWasLeft();
    void deadNodeIsDeclaredLostAndTheRunGoesOnElsewhere(); // last: it costs a node

private:
    const Cli& cli() const { return m_bed->laptop(); }
    RunSummary summary(const QString& run) const {
        return findRun(cli().database(), run).value_or(RunSummary{});
    }
    bool waitForStep(const QString& run, int64_t step) const {
        return QTest::qWaitFor([&] { return summary(run).step >= step; }, 60000);
    }
    bool hasEvent(const QString& run, const std::string& code, int node) const {
        const auto reader = StoreReader::open(cli().database());
        const auto events = reader ? (*reader)->events(run) : std::vector<StoredEvent>();
        return std::ranges::any_of(events, [&](const StoredEvent& event) {
            return event.event.code == code && event.nodeIndex == node;
        });
    }
    /// Launches a run in an app that follows it; its id.
    QString launch(const QString& name, const SmallSpec& spec);
    void signalAgent(int node, int signal) const;
    /// Step of its newest checkpoint; -1: none.
    int64_t newestSaved(const QString& run) const {
        const auto reader = StoreReader::open(cli().database());
        const auto all = reader ? (*reader)->checkpoints(run) : std::vector<StoredCheckpoint>();
        return all.empty() ? -1 : all.front().saved.step;
    }
    /// Removes it with all its copies, as a node that trains alone may: its step.
    int64_t loseNewest(const QString& run) const {
        const auto reader = StoreReader::open(cli().database());
        if (!reader)
            return -1;
        const StoredCheckpoint newest = (*reader)->checkpoints(run).at(0);
        QDir(QString::fromStdString(newest.saved.path)).removeRecursively();
        for (const CheckpointCopy& copy : newest.copies)
            QDir(QString::fromStdString(copy.folder)).removeRecursively();
        return newest.saved.step;
    }
    /// The node's part of the run's folder.
    QString part(int node, const QString& run) const {
        return m_bed->server(node).home() + "/state/ringmaster/runs/" + run + "/" +
               QString::fromStdString(nodeName(node));
    }

    /// Takes a node's folder of the run away, or brings it back, as an automounter may.
    bool setFolderThere(int node, const QString& run, bool isThere) const {
        const QString runs = m_bed->server(node).home() + "/state/ringmaster/runs/";
        const QString here = runs + run, away = runs + "../away-" + run;
        return isThere ? QDir().rename(away, here) : QDir().rename(here, away);
    }
    /// Has the app connect to the node anew.
    bool breakLink(int node) const {
        bool isBroken = false;
        for (const pid_t agent : m_bed->processes(node, "ringmaster-agent", "attach"))
            isBroken = ::kill(agent, SIGKILL) == 0 || isBroken;
        return isBroken;
    }

    std::unique_ptr<Testbed> m_bed;
    std::unique_ptr<QProcess> m_app;
};

void tst_survival::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("survival", {.seeded = true, .areApart = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_survival::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(m_app.get()).constData());
    m_app.reset();
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

QString tst_survival::launch(const QString& name, const SmallSpec& spec) {
    m_app = cli().start(QStringList{"run", m_bed->writeSpec(name, spec), "--wait"} + kBothNodes);
    const bool isThere = QTest::qWaitFor(
        [&] {
            const auto newest = newestRun(cli().database());
            return newest && newest->name == name;
        },
        30000);
    return isThere ? newestRun(cli().database())->id : QString();
}

/// The supervisor of the node's ranks.
void tst_survival::signalAgent(int node, int signal) const {
    for (const SeenProcess& process : NetworkLab::processesIn(m_bed->lab().node(node)))
        if (process.command.contains("ringmaster-agent start") ||
            process.command.contains("ringmaster-agent adopt"))
            ::kill(process.pid, signal);
}

void tst_survival::killedAgentsLeaveARunThatObeysAndFinishes() {
    const QString run = launch("agents", {.steps = 3000, .checkpointEvery = 1000});
    QVERIFY(waitForStep(run, 20));
    for (const int node : {0, 1}) {
        signalAgent(node, SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(hasEvent(run, "agent-replaced", node), 20000);
    }
    const CliResult paused = cli().run({"pause", run});
    QVERIFY2(paused.exitCode == 0, paused.whole());
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).state, RunStateKind::kPaused, 20000);
    QVERIFY(m_app->waitForFinished(20000));
    const int64_t pausedAt = summary(run).step;
    const CliResult resumed = cli().run({"resume", run, "--wait"}, 120000);
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    QVERIFY(pausedAt > 20);
    QCOMPARE(summary(run).state, RunStateKind::kFinished);
    QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), 2, 1, 3000), QByteArray());
}

void tst_survival::aHeldRunIsHeldAfterARestart() {
    const QString run = launch("held", {.steps = 1000000, .checkpointEvery = 50});
    QVERIFY(waitForStep(run, 60));
    const CliResult held = cli().run({"hold", run});
    QVERIFY2(held.exitCode == 0, held.whole());
    for (const pid_t rank : m_bed->processes(1, "ringmaster-trainer"))
        ::kill(rank, SIGKILL);
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).attempt, 2, 60000);
    QTRY_VERIFY_WITH_TIMEOUT(summary(run).held, 60000);
    const auto commands = cli().run({"commands", run, "--json"}).json().array();
    QCOMPARE(commands[0]["command"].toString(), "hold");
    QCOMPARE(commands[0]["from"].toString(), "run");
    const int64_t step = summary(run).step;
    const CliResult continued = cli().run({"continue", run});
    QVERIFY2(continued.exitCode == 0, continued.whole());
    QVERIFY(waitForStep(run, step + 20));
    const CliResult stopped = cli().run({"stop", run});
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
}

void tst_survival::stoppedAgentIsReplacedWhenItIsNeeded() {
    const QString run = launch("stopped", {.steps = 1000000, .checkpointEvery = 0});
    QVERIFY(waitForStep(run, 5));
    signalAgent(0, SIGSTOP);
    const CliResult stopped = cli().run({"stop", run}, 40000);
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).state, RunStateKind::kStopped, 20000);
}

void tst_survival::journalsThatAreCutLoseNoLaterStep() {
    const QString run = launch("cut", {.steps = 1000000, .checkpointEvery = 0});
    QVERIFY(waitForStep(run, 50));
    QDir folder(part(1, run) + "/journal");
    for (const QFileInfo& file : folder.entryInfoList({"rank-*.rmj"}))
        QVERIFY(QFile::resize(file.filePath(), file.size() - 3000));
    const int64_t step = summary(run).step;
    QVERIFY(waitForStep(run, step + 100));
    const CliResult paused = cli().run({"pause", run});
    QVERIFY2(paused.exitCode == 0, paused.whole());
    QVERIFY(m_app->waitForFinished(20000));
    // As if the machine had lost its power: what it wrote last is gone while nobody watches.
    for (const QFileInfo& file : folder.entryInfoList({"rank-*.rmj"}))
        QVERIFY(QFile::resize(file.filePath(), file.size() - 3000));
    const int64_t pausedAt = summary(run).step;
    m_app = cli().start({"resume", run, "--wait"});
    QVERIFY(waitForStep(run, pausedAt + 50));
    const CliResult stopped = cli().run({"stop", run});
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QVERIFY(m_app->waitForFinished(20000));
    // What came after the cuts is all there. Of what a cut took a copy may have been made before;
    // if not, that is told.
    const auto steps = stepsInStore(cli().database(), run, "train/loss").at(1);
    const auto resumed = std::ranges::lower_bound(steps, pausedAt + 1);
    const std::vector<int64_t> later(resumed, steps.end());
    QVERIFY(later.size() > 40);
    QCOMPARE(flawIn({{1, later}}, 1, pausedAt + 1, later.back()), QByteArray());
    const auto missing = pausedAt - (resumed - steps.begin());
    QVERIFY(missing == 0 || hasEvent(run, "journal-damaged", 1));
    QVERIFY2(missing < 100, qPrintable(QString::number(missing)));
}

void tst_survival::nodesThatShareAHomeTrainTogether() {
    auto sharing = Testbed::create("home", {.seeded = true}); // nodes that see each other's files
    QVERIFY2(sharing, sharing ? "" : sharing.error().message.c_str());
    std::swap(m_bed, *sharing);
    const auto back = qScopeGuard([&] { std::swap(m_bed, *sharing); });
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
    const QString own = m_bed->server(1).home() + "/state";
    QVERIFY(!QFile::exists(own) && QDir().mkpath(m_bed->server(0).home() + "/state"));
    QVERIFY(QFile::link(m_bed->server(0).home() + "/state", own));
    const CliResult foreseen =
        cli().run({"run", m_bed->writeSpec("shared", {.steps = 200, .checkpointEvery = 50}),
                   "--check", "--json", "--node", "node-a", "--node", "node-b"},
                  60000);
    const QString run = launch("shared", {.steps = 200, .checkpointEvery = 50});
    QVERIFY(m_app->waitForFinished(120000));
    const CliResult checked = cli().run({"nodes", "check", "node-a", "node-b", "--json"}, 60000);
    const QByteArray said = m_app->readAllStandardError();
    CliResult there; // the agents end a moment after the run
    const auto isListed = [&] {
        there = cli().run({"clean", run, "--preview", "--json"});
        return there.exitCode == 0;
    };
    static_cast<void>(QTest::qWaitFor(isListed, 20000));
    const CliResult cleaned = cli().run({"clean", run, "--yes", "--json"});
    QVERIFY2(m_app->exitCode() == 0, said);
    QVERIFY2(foreseen.whole().contains("which all nodes have in common"), foreseen.whole());
    QVERIFY2(checked.whole().contains("share the folder of runs"), checked.whole());
    QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), 2, 1, 200), QByteArray());
    const QJsonArray folders = there.json()["folders"].toArray();
    QVERIFY2(folders.size() == 2 && folders[0]["bytes"].toDouble() > 0, there.whole());
    QVERIFY2(folders[1]["bytes"].toDouble() == 0 && folders[1]["same_as"] == folders[0]["node"],
             there.whole());
    QVERIFY2(cleaned.exitCode == 0, cleaned.whole());
    QVERIFY(!QFile::exists(folders[0]["folder"].toString()));
}

void tst_survival::aFolderThatIsAwayForAMomentIsFollowedAgain() {
    const QString run = launch("away", {.steps = 1000000, .checkpointEvery = 0});
    QVERIFY(waitForStep(run, 20));
    QVERIFY(setFolderThere(1, run, false) && breakLink(1));
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).lostNodes.size(), size_t(1), 40000);
    const std::string why = summary(run).lostNodes.front().why;
    QVERIFY2(why.find("has nothing of the run at the moment") != std::string::npos, why.c_str());
    const int64_t step = summary(run).step;
    QVERIFY(waitForStep(run, step + 50)); // rank 0 is followed, and rank 1 trains on
    QVERIFY(setFolderThere(1, run, true));
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).lostNodes.size(), size_t(0), 40000);
    const CliResult paused = cli().run({"pause", run}, 60000);
    QVERIFY2(paused.exitCode == 0, paused.whole());
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).state, RunStateKind::kPaused, 20000);
    QVERIFY(m_app->waitForFinished(20000));
    QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), 2, 1, summary(run).step),
             QByteArray());
}

void tst_survival::anEndThatWasConcludedIsCorrectedByWhatIsReadLater() {
    const QString run = launch("unseen", {.steps = 300, .checkpointEvery = 0});
    QVERIFY(waitForStep(run, 20));
    QVERIFY(setFolderThere(1, run, false) && breakLink(1));
    QVERIFY(m_app->waitForFinished(180000)); // a minute after the other node has told its end
    const QByteArray said = m_app->readAllStandardError();
    const RunSummary concluded = summary(run);
    const bool isReported = hasEvent(run, "end-presumed", 0);
    QVERIFY(setFolderThere(1, run, true));
    QVERIFY2(concluded.isPresumed && isReported, said);
    QCOMPARE(concluded.state, RunStateKind::kFinished);
    const CliResult attached = cli().run({"attach", run}, 60000);
    QVERIFY2(attached.exitCode == 0, attached.whole());
    QVERIFY(!summary(run).isPresumed);
    QCOMPARE(summary(run).state, RunStateKind::kFinished);
    QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), 2, 1, 300), QByteArray());
}

void tst_survival::aFolderThatWasRemovedOnOneNodeEndsTheRunByItsName() {
    const QString run = launch("removed", {.steps = 1000000, .checkpointEvery = 0});
    QVERIFY(waitForStep(run, 20));
    const auto isRemoved = [folder = QFileInfo(part(1, run)).path()] {
        return QDir(folder).removeRecursively();
    };
    QTRY_VERIFY_WITH_TIMEOUT(isRemoved(), 20000); // its rank may write there meanwhile
    const auto hasFailed = [&] { return summary(run).state == RunStateKind::kFailed; };
    QTRY_VERIFY_WITH_TIMEOUT(hasFailed(), 120000);
    const RunSummary ended = summary(run);
    QVERIFY2(ended.message.contains("the folder of the run on node-b, ") &&
                 ended.message.endsWith("was removed while it ran"),
             qPrintable(ended.message));
    // Its agents do not wait for what cannot come back, and nobody is told that a node cannot be
    // reached.
    QTRY_VERIFY_WITH_TIMEOUT(m_bed->processes(0, "ringmaster-agent", "start").empty(), 20000);
    const CliResult resumed = cli().run({"resume", run}, 60000);
    QVERIFY2(resumed.exitCode != 0 && !resumed.err.contains("cannot be reached"), resumed.whole());
    // Who waits for the run is told its end, and what could not be read, after the refusal, too.
    QVERIFY(m_app->waitForFinished(120000));
    QCOMPARE(m_app->exitCode(), static_cast<int>(ExitCode::kRunFailed));
    const QByteArray said = m_app->readAllStandardError();
    QVERIFY2(said.contains("node-b"), said);
}

void tst_survival::commandsForANodeThatIsCutOffOutliveTheApp() {
    const QString run = launch("kept", {.steps = 1000000, .checkpointEvery = 0});
    QVERIFY(waitForStep(run, 5));
    m_app->kill();
    QVERIFY(m_app->waitForFinished(20000));
    QVERIFY(m_bed->lab().setManagementLink(0, false)); // the ranks train on
    for (const char* command : {"hold", "pause"}) {
        const CliResult requested = cli().run({command, run}, 120000);
        QVERIFY2(requested.exitCode == static_cast<int>(ExitCode::kUnavailable), requested.whole());
        QVERIFY2(requested.whole().contains("the command is kept for 1 h"), requested.whole());
        if (command != std::string_view("hold"))
            continue;
        const CliResult withdrawn = cli().run({"withdraw", run});
        QVERIFY2(withdrawn.exitCode == 0, withdrawn.whole());
    }
    const CliResult shown = cli().run({"show", run});
    QVERIFY2(shown.out.contains("asked       pause, by root in a terminal"), shown.whole());
    QVERIFY(m_bed->lab().setManagementLink(0, true));
    const auto isPaused = [&] {
        (void)cli().run({"runs"}); // another process, that only looks
        return summary(run).state == RunStateKind::kPaused;
    };
    QVERIFY(QTest::qWaitFor(isPaused, 90000));
    const auto commands = cli().run({"commands", run, "--json"}).json().array();
    QCOMPARE(commands.size(), 2);
    QCOMPARE(commands[0]["command"].toString(), "pause");
    QCOMPARE(commands[0]["state"].toString(), "applied");
    QVERIFY(commands[0]["step"].toInt() > 5);
    QCOMPARE(commands[1]["command"].toString(), "hold");
    QCOMPARE(commands[1]["state"].toString(), "withdrawn");
    for (const QJsonValue& each : commands) {
        QCOMPARE(each["by"].toString(), "root");
        QCOMPARE(each["from"].toString(), "terminal");
    }
}

void tst_survival::aPauseIsObeyedThoughAnotherNodesAgentHangs() {
    const QString run = launch("hung", {.steps = 1000000, .checkpointEvery = 50});
    QVERIFY(waitForStep(run, 60));
    signalAgent(1, SIGSTOP);
    for (const pid_t rank : m_bed->processes(1, "ringmaster-trainer"))
        ::kill(rank, SIGKILL);
    // Between two attempts: the one has failed, and the other cannot begin without that agent. The
    // rank that is left mostly notices at once; if it does not, its agent ends it after some 33 s.
    QTRY_VERIFY_WITH_TIMEOUT(hasEvent(run, "rank-exited", 0) ||
                                 m_bed->processesNamed(0, "ringmaster-trainer") == 0,
                             60000);
    const CliResult paused = cli().run({"pause", run}, 90000);
    QVERIFY2(paused.exitCode == 0, paused.whole());
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).state, RunStateKind::kPaused, 60000);
    QVERIFY(m_app->waitForFinished(20000));
}

void tst_survival::aNodeThatWentOnAloneIsEndedAndLeftOut() {
    // Both nodes see one folder here, where the lone one would remove what the other goes on from.
    // It validates most of the time, so that the cut finds rank 0 in there, where it then waits.
    const QString run = launch("alone", {.steps = 1000000,
                                         .checkpointEvery = 50,
                                         .minNodes = 1,
                                         .keepLast = 1000,
                                         .validationEvery = 10,
                                         .validationBatches = 400});
    QTRY_VERIFY_WITH_TIMEOUT(newestSaved(run) >= 100, 60000);
    QVERIFY(m_bed->lab().setDataLink(false));
    QVERIFY(m_bed->lab().setManagementLink(0, false));
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).lostNodes.size(), size_t(1), 40000);
    const CliResult lost = cli().run({"declare-lost", run, "node-a"}, 60000);
    QVERIFY2(lost.exitCode == 0, lost.whole());
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).state, RunStateKind::kFailed, 20000);
    QVERIFY(m_app->waitForFinished(60000));
    // Node A, which sees nobody, goes on with what it has: in attempt 2, or in a later one if it
    // had begun that before it knew.
    const auto ownSteps = [&] {
        int64_t bytes = 0;
        for (const QFileInfo& file :
             QDir(part(0, run) + "/journal").entryInfoList({"rank-00000-a*.rmj"}))
            bytes += file.fileName().contains("-a00001-") ? 0 : file.size();
        return bytes;
    };
    QTRY_VERIFY_WITH_TIMEOUT(ownSteps() > 10'000, 90000);

    // The run goes on elsewhere; what lives on node A is ended by itself.
    const int64_t lostStep = loseNewest(run);
    QVERIFY(lostStep >= 100);
    QVERIFY(m_bed->lab().setManagementLink(0, true));
    const CliResult preview = cli().run({"resume", run, "--node", "node-b:2", "--preview"}, 60000);
    QVERIFY2(preview.out.contains("nowhere any more"), preview.whole());
    QVERIFY2(preview.out.contains(" are trained again."), preview.whole());
    m_app = cli().start({"resume", run, "--node", "node-b:2", "--wait"});
    QTRY_VERIFY_WITH_TIMEOUT(summary(run).attempt > 1000 && summary(run).step > lostStep, 60000);
    QTRY_VERIFY_WITH_TIMEOUT(hasEvent(run, "checkpoint-gone", 0), 20000);
    QTRY_COMPARE_WITH_TIMEOUT(m_bed->processesNamed(0, "ringmaster-trainer"), 0, 90000);
    QTRY_VERIFY_WITH_TIMEOUT(hasEvent(run, "given-up-node-ended", 0), 20000);
    QVERIFY(m_bed->lab().setDataLink(true));
    const CliResult paused = cli().run({"pause", run}, 60000);
    QVERIFY2(paused.exitCode == 0, paused.whole());
    QVERIFY(m_app->waitForFinished(20000));

    // Node A takes part again, and is rank 0 again; what it made alone is no part of the run.
    const int64_t pausedAt = summary(run).step;
    m_app = cli().start(QStringList{"resume", run, "--wait"} + kBothNodes);
    QVERIFY(waitForStep(run, pausedAt + 50));
    QVERIFY(hasEvent(run, "attempt-left-out", 0));
    const CliResult stopped = cli().run({"stop", run}, 60000);
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QVERIFY(m_app->waitForFinished(20000));
    QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), 2, 1, summary(run).step),
             QByteArray());
}

void tst_survival::deadNodeIsDeclaredLostAndTheRunGoesOnElsewhere() {
    const QString run = launch("dead", {.steps = 2000, .checkpointEvery = 50});
    QVERIFY(waitForStep(run, 120));
    QVERIFY(m_bed->lab().setDataLink(false));
    QVERIFY(m_bed->lab().setManagementLink(1, false));
    m_bed->lab().killAllOn(1);
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).lostNodes.size(), size_t(1), 40000);
    const CliResult early = cli().run({"resume", run});
    QVERIFY2(early.exitCode != 0, early.whole());
    const CliResult wrong = cli().run({"declare-lost", run, "node-a"}, 60000);
    QVERIFY2(wrong.exitCode != 0 && wrong.whole().contains("can be reached"), wrong.whole());
    const CliResult lost = cli().run({"declare-lost", run, "node-b"}, 60000);
    QVERIFY2(lost.exitCode == 0, lost.whole());
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).state, RunStateKind::kFailed, 20000);
    QVERIFY2(summary(run).message.contains("node-b: declared lost"),
             qPrintable(summary(run).message));
    QVERIFY(m_app->waitForFinished(20000));
    const CliResult resumed = cli().run({"resume", run, "--node", "node-a:2", "--wait"}, 180000);
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    QCOMPARE(summary(run).state, RunStateKind::kFinished);
    QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), 2, 1, 2000), QByteArray());
    // The node of the first attempt is asked too, and what cannot be known of it is said.
    const auto folders =
        cli().run({"clean", run, "--preview", "--json"}, 120000).json()["folders"].toArray();
    QCOMPARE(folders.size(), 2);
    QCOMPARE(folders[0]["problem"].toString(), QString());
    QVERIFY(folders[0]["bytes"].toInt() > 0);
    QCOMPARE(folders[1]["node"].toString(), "node-b");
    QVERIFY(!folders[1]["problem"].toString().isEmpty());
    const CliResult cleaned = cli().run({"clean", run, "--yes"}, 120000);
    QVERIFY2(cleaned.exitCode != 0 && cleaned.err.contains("clean node-b"), cleaned.whole());
    QVERIFY(!QDir(m_bed->server(0).home() + "/state/ringmaster/runs/" + run).exists());
}

void tst_survival::whatANodeDeclaredLostHadMadeBeforeIsRead() {
    const QString run = launch("unread", {.steps = 100000, .checkpointEvery = 50});
    QVERIFY(waitForStep(run, 60));
    // The app alone cannot reach it: training goes on, and so do the checkpoints on the other node.
    QVERIFY(m_bed->lab().setManagementLink(1, false));
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).lostNodes.size(), size_t(1), 40000);
    const int64_t read = pointsOf(cli().database(), run, "train/loss", 1).back().step;
    QTRY_VERIFY_WITH_TIMEOUT(newestSaved(run) > read + 100, 60000);
    const CliResult lost = cli().run({"declare-lost", run, "node-b"}, 60000);
    QVERIFY2(lost.exitCode == 0, lost.whole());
    QVERIFY(m_app->waitForFinished(60000));
    const int64_t from = newestSaved(run);
    m_app = cli().start({"resume", run, "--node", "node-a:2", "--wait"});
    QVERIFY(waitForStep(run, from + 20));
    QVERIFY(m_bed->lab().setManagementLink(1, true));
    const auto isWhole = [&] {
        std::vector<int64_t> steps = stepsInStore(cli().database(), run, "train/loss")[1];
        std::erase_if(steps, [from](int64_t step) { return step > from; });
        return steps.size() == static_cast<size_t>(from);
    };
    QVERIFY(!isWhole());
    QTRY_VERIFY_WITH_TIMEOUT(isWhole(), 120000);
    const CliResult stopped = cli().run({"stop", run}, 60000);
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QVERIFY(m_app->waitForFinished(20000));
    QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), 2, 1, summary(run).step),
             QByteArray());
}

void tst_survival::aKillOfARunThatWentOnElsewhereEndsTheNodeThatWasLeft() {
    const QString run = launch("left", {.steps = 1000000, .checkpointEvery = 50});
    QVERIFY(waitForStep(run, 60));
    QVERIFY(m_bed->lab().setDataLink(false));
    QVERIFY(m_bed->lab().setManagementLink(1, false));
    QTRY_COMPARE_WITH_TIMEOUT(summary(run).lostNodes.size(), size_t(1), 40000);
    const CliResult lost = cli().run({"declare-lost", run, "node-b"}, 60000);
    QVERIFY2(lost.exitCode == 0, lost.whole());
    QVERIFY(m_app->waitForFinished(60000));
    const CliResult resumed = cli().run({"resume", run, "--node", "node-a:2"}, 120000);
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    // Its agent waits for the one that led it, and no other Ringmaster is there that would end it.
    QVERIFY(!m_bed->processes(1, "ringmaster-agent", "start").empty());
    QVERIFY(m_bed->lab().setManagementLink(1, true));
    const CliResult killed = cli().run({"kill", run}, 90000);
    QVERIFY2(killed.exitCode == 0, killed.whole());
    QVERIFY2(killed.out.contains("node-b, which was declared lost: killed"), killed.whole());
    QVERIFY(m_bed->processes(1, "ringmaster-agent", "start").empty());
    QCOMPARE(m_bed->processesNamed(1, "ringmaster-trainer"), 0);
    QCOMPARE(summary(run).state, RunStateKind::kStopped);
    QVERIFY(m_bed->lab().setDataLink(true));
}

QTEST_GUILESS_MAIN(tst_survival)
#include "tst_survival.moc"
