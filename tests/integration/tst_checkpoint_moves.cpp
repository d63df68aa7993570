// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "shared/checkpoint/manifest.h"
#include "shared/wire/receive.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonObject>
#include <QScopeGuard>
#include <QTest>

#include <set>

using namespace rm;

namespace {

constexpr int64_t kSteps = 1000; // in 20 s at least: it is paused before that

} // namespace

/// A run whose checkpoints lie on rank 0's node alone, and which goes on elsewhere: two nodes over
/// SSH. The functions build on one another, in order.
class tst_checkpoint_moves : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void aCheckpointIsPulledToThisComputer();
    void ranksThatCannotCutTheStepsAreRefusedBeforeAnything();
    void theRunGoesOnOnAnotherNodeAndFewerRanks();
    void aBranchBeginsOnAnotherNode();
    void theNewestGetsACopyOnTheSecondNode();
    void itGetsOneWhileTheLaptopIsClosed();
    void thatOfAPauseGetsOneWithoutAnApp();
    void withoutItsNodeACopyIsEnough(); // last: it costs a node

private:
    const Cli& cli() const { return m_bed->laptop(); }
    RunSummary summary() const { return findRun(cli().database(), m_run).value_or(RunSummary{}); }
    QJsonObject checkpoint(int64_t step) const {
        for (const QJsonValue& each : cli().run({"checkpoints", m_run, "--json"}).json().array())
            if (each["step"].toInteger() == step)
                return each.toObject();
        return {};
    }

    std::unique_ptr<Testbed> m_bed;
    QString m_run;
    int64_t m_paused = 0; ///< step
    QString m_left;       ///< a run on both nodes that was paused, and nobody has followed since
    int64_t m_leftAt = 0; ///< step of that
};

void tst_checkpoint_moves::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("moves", {.seeded = true, .areApart = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
    QVERIFY(!QDir(m_bed->server(0).home()).isEmpty()); // still seen from here
}

void tst_checkpoint_moves::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

void tst_checkpoint_moves::aCheckpointIsPulledToThisComputer() {
    const QString spec = m_bed->writeSpec("moved", {.steps = kSteps, .checkpointEvery = 50});
    const CliResult begun = cli().run({"run", spec, "--node", "node-a:2"}, 120000);
    QVERIFY2(begun.exitCode == 0, begun.whole());
    m_run = newestRun(cli().database())->id;
    const CliResult paused = cli().run({"pause", m_run, "--json"}, 120000);
    QVERIFY2(paused.exitCode == 0, paused.whole());
    m_paused = paused.json()["step"].toInteger();

    const CliResult pulled = cli().run({"pull-checkpoint", m_run, "--json"}, 120000);
    QVERIFY2(pulled.exitCode == 0, pulled.whole());
    const QString folder = pulled.json()["folder"].toString();
    QVERIFY2(folder.startsWith(cli().home()), qPrintable(folder));
    const auto whole = verifyCheckpoint(folder.toStdString());
    QVERIFY2(whole.has_value(), whole ? "" : whole.error().message.c_str());
    QCOMPARE(whole->step, m_paused);
    const QJsonObject known = checkpoint(m_paused);
    QCOMPARE(known["node"].toString(), QString("node-a"));
    QCOMPARE(known["copies"].toArray().at(0)["node"].toString(), QString("this-computer"));
    QCOMPARE(known["copies"].toArray().at(0)["folder"].toString(), folder);

    const QString own = cli().home() + "/kept here";
    const CliResult kept = cli().run(
        {"pull-checkpoint", m_run, QString::number(m_paused), "--to", own, "--json"}, 120000);
    QVERIFY2(kept.exitCode == 0, kept.whole());
    QCOMPARE(QFileInfo(kept.json()["folder"].toString()).path(), own);
    QVERIFY(verifyCheckpoint(kept.json()["folder"].toString().toStdString()));
    QCOMPARE(checkpoint(m_paused)["copies"].toArray().size(), 1);

    const CliResult verified = cli().run({"checkpoints", m_run, "--verify", "--json"}, 120000);
    QVERIFY2(verified.exitCode == 0, verified.whole());
    QVERIFY(checkpoint(m_paused)["verified"].toDouble() > 0);
}

/// Three ranks cannot do the steps that two began.
void tst_checkpoint_moves::ranksThatCannotCutTheStepsAreRefusedBeforeAnything() {
    for (const QStringList& more : {QStringList{"--preview"}, QStringList{}}) {
        const CliResult refused =
            cli().run(QStringList{"resume", m_run, "--node", "node-b:3"} + more, 60000);
        QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kUsage), refused.whole());
        for (const char* words : {"made by 2 ranks", "3 ranks take", "another number of ranks"})
            QVERIFY2(refused.err.contains(words), refused.whole());
    }
    QCOMPARE(summary().attempt, 1);
    QCOMPARE(summary().state, RunStateKind::kPaused);
    const CliResult branched = cli().run({"restore", m_run, QString::number(m_paused), "--as-new",
                                          "--node", "node-a:3", "--set", "name=third"},
                                         60000);
    QVERIFY2(branched.exitCode == static_cast<int>(ExitCode::kUsage), branched.whole());
    QVERIFY2(branched.err.contains("3 ranks take"), branched.whole());
    // Likewise where the checkpoint would have to be copied first.
    const QJsonArray copies = checkpoint(m_paused)["copies"].toArray();
    const CliResult elsewhere = cli().run({"restore", m_run, QString::number(m_paused), "--as-new",
                                           "--node", "node-b:3", "--set", "name=third"},
                                          60000);
    QVERIFY2(elsewhere.exitCode == static_cast<int>(ExitCode::kUsage), elsewhere.whole());
    QVERIFY2(elsewhere.err.contains("3 ranks take"), elsewhere.whole());
    QVERIFY2(!elsewhere.err.contains("Copy the checkpoint"), elsewhere.whole());
    QCOMPARE(checkpoint(m_paused)["copies"].toArray(), copies);
    QCOMPARE(newestRun(cli().database())->id, m_run);
}

void tst_checkpoint_moves::theRunGoesOnOnAnotherNodeAndFewerRanks() {
    const QStringList elsewhere = {"resume", m_run, "--node", "node-b:1"};
    const QByteArray moved = "is copied from node-a to node-b first";
    const CliResult preview = cli().run(elsewhere + QStringList{"--preview"}, 60000);
    QVERIFY2(preview.exitCode == 0, preview.whole());
    QVERIFY2(preview.out.contains("Nodes: node-b:1 in place of node-a:2."), preview.whole());
    QVERIFY2(preview.out.contains("Ranks: 1 in place of 2"), preview.whole());
    QVERIFY2(preview.out.contains(moved), preview.whole());
    QVERIFY2(!preview.out.contains("trained again"), preview.whole()); // it was paused there
    QCOMPARE(summary().attempt, 1);
    const CliResult resumed = cli().run(elsewhere + QStringList{"--wait"}, 180000);
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    QVERIFY2(resumed.err.contains(moved), resumed.whole());
    QCOMPARE(summary().state, RunStateKind::kFinished);
    auto steps = stepsInStore(cli().database(), m_run, "train/loss");
    steps.erase(1); // was there until the pause
    QCOMPARE(flawIn(steps, 1, 1, kSteps), QByteArray());
    // What node-a has of the line is still known, where it lies.
    const QJsonObject known = checkpoint(m_paused);
    QVERIFY(known["retired_by"].isNull());
    QCOMPARE(known["node"].toString(), QString("node-a"));
    QCOMPARE(checkpoint(kSteps)["node"].toString(), QString("node-b"));
}

void tst_checkpoint_moves::aBranchBeginsOnAnotherNode() {
    const CliResult branched = cli().run(
        {"restore", m_run, QString::number(m_paused), "--as-new", "--node", "node-b:1", "--set",
         "train.steps=" + QString::number(m_paused + 40), "--set", "name=branched", "--wait"},
        180000);
    QVERIFY2(branched.exitCode == 0, branched.whole());
    const auto run = newestRun(cli().database());
    QCOMPARE(run->name, QString("branched"));
    QCOMPARE(run->state, RunStateKind::kFinished);
    QCOMPARE(run->nodes.front().nodeName, std::string("node-b"));
}

void tst_checkpoint_moves::theNewestGetsACopyOnTheSecondNode() {
    const QString spec = m_bed->writeSpec("copied", {.steps = 100000, .checkpointEvery = 50});
    const auto app =
        cli().start({"run", spec, "--node", "node-a:1", "--node", "node-b:1", "--wait"});
    const auto copied = [this] {
        const auto run = newestRun(cli().database());
        const auto reader = StoreReader::open(cli().database());
        std::set<std::string> steps;
        if (run && run->name == "copied" && reader)
            for (const StoredCheckpoint& each : (*reader)->checkpoints(run->id))
                for (const CheckpointCopy& copy : each.copies)
                    if (copy.node == "node-b")
                        steps.insert(each.saved.path);
        return steps;
    };
    std::set<std::string> seen;
    const auto hasSeen = [&] {
        seen.merge(copied());
        return seen.size() >= 3;
    };
    QTRY_VERIFY_WITH_TIMEOUT(hasSeen(), 180000);
    m_run = newestRun(cli().database())->id;
    QCOMPARE(cli().run({"stop", m_run}, 60000).exitCode, 0);
    QVERIFY(app->waitForFinished(60000));
    // The last one is copied as well, whether the one who stopped the run has seen it or not.
    QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 60000);
    static_cast<void>(cli().run({"attach", m_run}, 60000));
    // Of three or more the node keeps the newest two, and each is whole.
    const auto there = listCheckpoints(
        (m_bed->server(1).home() + "/state/ringmaster/runs/" + m_run + "/node-00000/checkpoints")
            .toStdString());
    QVERIFY(there && there->size() == 2);
    for (const CheckpointEntry& entry : *there)
        QVERIFY(entry.isCopy && verifyCheckpoint(entry.path));
    // One that is gone is no damage where the checkpoint itself is whole, one that has changed is.
    const auto verify = [this] { return cli().run({"checkpoints", m_run, "--verify"}, 120000); };
    QVERIFY(QDir(QString::fromStdString(there->back().path)).removeRecursively());
    const CliResult whole = verify();
    QVERIFY2(whole.exitCode == 0, whole.whole());
    QCOMPARE(copied().size(), size_t(1)); // nor is it listed any more
    QVERIFY(QFile::resize(QString::fromStdString(there->front().path + "/model.safetensors"), 5));
    const CliResult damaged = verify();
    QVERIFY2(damaged.exitCode != 0 && damaged.whole().contains("damaged"), damaged.whole());
}

void tst_checkpoint_moves::itGetsOneWhileTheLaptopIsClosed() {
    const QString spec = m_bed->writeSpec("closed", {.steps = 1000000, .checkpointEvery = 200});
    auto app = cli().start({"run", spec, "--node", "node-a:1", "--node", "node-b:1", "--wait"});
    QTRY_VERIFY_WITH_TIMEOUT(newestRun(cli().database()).value_or(RunSummary()).name == "closed" &&
                                 newestRun(cli().database())->step > 10,
                             60000);
    m_run = newestRun(cli().database())->id;
    app->kill();
    QVERIFY(app->waitForFinished(20000));
    const QDir copies(m_bed->server(1).home() + "/state/ringmaster/runs/" + m_run +
                      "/node-00000/checkpoints");
    const auto newest = [&copies] {
        int64_t step = 0;
        const auto entries = listCheckpoints(copies.path().toStdString());
        for (const CheckpointEntry& each : entries.value_or(std::vector<CheckpointEntry>()))
            step = std::max(step, each.manifest.step);
        return step;
    };
    QTRY_VERIFY_WITH_TIMEOUT(newest() >= 200, 90000);
    for (int more = 0; more < 2; ++more) {
        const int64_t step = newest();
        QTRY_VERIFY_WITH_TIMEOUT(newest() > step, 90000);
    }
    QTRY_COMPARE_WITH_TIMEOUT(copies.entryList({"step-*"}).size(), qsizetype(kKeptCopies), 20000);
    const int64_t step = newest();
    // The agent there has told of it, and of those that it has dropped.
    app = cli().start({"attach", m_run});
    const auto stored = [this] {
        std::vector<int64_t> steps;
        for (const QJsonValue& each : cli().run({"checkpoints", m_run, "--json"}).json().array())
            for (const QJsonValue& copy : each["copies"].toArray())
                if (copy["node"] == "node-b")
                    steps.push_back(each["step"].toInteger());
        return steps;
    };
    QTRY_VERIFY_WITH_TIMEOUT(std::ranges::count(stored(), step) > 0, 30000);
    QVERIFY(stored().size() <= size_t(kKeptCopies));
    QCOMPARE(cli().run({"stop", m_run}, 60000).exitCode, 0);
    QVERIFY(app->waitForFinished(20000));
}

/// Each command is a process that has ended before the next one begins.
void tst_checkpoint_moves::thatOfAPauseGetsOneWithoutAnApp() {
    const QString spec = m_bed->writeSpec("left", {.steps = 1000000, .checkpointEvery = 1000000});
    const CliResult begun =
        cli().run({"run", spec, "--node", "node-a:1", "--node", "node-b:1"}, 120000);
    QVERIFY2(begun.exitCode == 0, begun.whole());
    m_left = newestRun(cli().database())->id;
    const std::string copies =
        (m_bed->server(1).home() + "/state/ringmaster/runs/" + m_left + "/node-00000/checkpoints")
            .toStdString();
    const auto hasCopy = [&] {
        const auto there = listCheckpoints(copies).value_or(std::vector<CheckpointEntry>());
        return std::ranges::any_of(there, [this](const CheckpointEntry& entry) {
            return entry.manifest.step == m_leftAt && entry.isCopy && verifyCheckpoint(entry.path);
        });
    };
    const auto fast = qScopeGuard([this] { (void)m_bed->lab().setDataRate(QString()); });
    for (const bool isAgain : {false, true}) {
        if (isAgain) {
            const CliResult resumed = cli().run({"resume", m_left}, 120000);
            QVERIFY2(resumed.exitCode == 0, resumed.whole());
            // So that it takes longer than who paused the run stays to see it.
            QVERIFY(m_bed->lab().setDataRate("512kbit"));
        }
        const CliResult paused = cli().run({"pause", m_left, "--json"}, 120000);
        QVERIFY2(paused.exitCode == 0, paused.whole());
        m_leftAt = paused.json()["step"].toInteger();
        QTRY_VERIFY_WITH_TIMEOUT(hasCopy(), 60000);
        // Then the agents go.
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 60000);
    }
}

void tst_checkpoint_moves::withoutItsNodeACopyIsEnough() {
    const QString spec = m_bed->writeSpec("lost", {.steps = kSteps, .checkpointEvery = 50});
    const CliResult begun = cli().run({"run", spec, "--node", "node-a:1"}, 120000);
    QVERIFY2(begun.exitCode == 0, begun.whole());
    m_run = newestRun(cli().database())->id;
    const CliResult paused = cli().run({"pause", m_run, "--json"}, 120000);
    QVERIFY2(paused.exitCode == 0, paused.whole());
    m_paused = paused.json()["step"].toInteger();
    const CliResult pushed =
        cli().run({"push-checkpoint", m_run, "--node", "this-computer"}, 120000);
    QVERIFY2(pushed.exitCode == 0, pushed.whole());
    QVERIFY(m_bed->lab().setManagementLink(0, false));
    m_bed->lab().killAllOn(0);

    const CliResult resumed = cli().run({"resume", m_run, "--node", "node-b:1", "--wait"}, 240000);
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    QVERIFY2(resumed.err.contains("is copied from this-computer to node-b first"), resumed.whole());
    QCOMPARE(summary().state, RunStateKind::kFinished);

    // The copy that agents made when nobody looked lies there already.
    const QStringList goOn = {"resume", m_left, "--node", "node-b:1"};
    const CliResult preview = cli().run(goOn + QStringList{"--preview"}, 120000);
    QVERIFY2(preview.exitCode == 0, preview.whole());
    QVERIFY2(preview.out.contains("from step " + QByteArray::number(qint64{m_leftAt}) + "."),
             preview.whole());
    QVERIFY2(!preview.out.contains("is copied from"), preview.whole());
    const CliResult left = cli().run(goOn, 240000);
    QVERIFY2(left.exitCode == 0, left.whole());
    QCOMPARE(cli().run({"stop", m_left}, 60000).exitCode, 0);

    const CliResult hopeless =
        cli().run({"restore", newestRun(cli().database())->id, "0", "--node", "node-b:1"}, 60000);
    QVERIFY(hopeless.exitCode != 0);
}

QTEST_GUILESS_MAIN(tst_checkpoint_moves)
#include "tst_checkpoint_moves.moc"
