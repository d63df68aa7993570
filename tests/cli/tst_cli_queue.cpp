// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTcpServer>
#include <QTest>

#include <algorithm>
#include <csignal>
#include <map>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 60000;

QStringList longRun(const QString& name) {
    return longRunWords(name, 100'000, "this-computer:1");
}

/// For a node that cannot be reached.
QStringList shortRun(const QString& name) {
    return longRunWords(name, 10, "away:1") << "--set"
                                            << "schedule.warmup_steps=0";
}

} // namespace

/// Runs that wait for free nodes, with real ranks on this computer.
class TestCliQueue : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void cleanup();
    void aRunWaitsUntilItsNodeIsFree();
    void theOrderIsChangedAndARunIsTakenOut();
    void whatWaitsIsStartedByWhoeverComesNext();
    void aNodeThatIsAwayHoldsUpNobodyElse();
    void theBetterHalfOfASweepGoesOn();
    void aSweepThatCannotBeIsRefusedBeforeAnythingIsStored();

private:
    std::optional<RunSummary> find(const QString& name) const;
    /// As its nodes tell it now.
    bool isIn(const QString& name, RunStateKind state) const {
        const auto now = m_own.run({"show", name, "--json"}).json().object();
        return now["state"].toString() == runStateName(state);
    }
    QJsonArray queue() const { return m_own.run({"queue", "--json"}).json().array(); }

    OwnFolders m_own;
};

std::optional<RunSummary> TestCliQueue::find(const QString& name) const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    if (!reader)
        return std::nullopt;
    const auto found = (*reader)->resolve(name);
    return found ? std::optional(*found) : std::nullopt;
}

/// What a test that failed leaves would hold up the next one.
void TestCliQueue::cleanup() {
    const auto runs = m_own.run({"runs", "--json"}).json().array();
    for (const auto& each : runs) {
        const auto run = each.toObject();
        const QString state = run["state"].toString();
        if (state == "queued" || state == "preparing" || state == "running")
            static_cast<void>(m_own.run({"kill", run["id"].toString()}));
    }
}

void TestCliQueue::aRunWaitsUntilItsNodeIsFree() {
    const Answer none = m_own.run({"queue"});
    QVERIFY2(none.exitCode == 0 && none.out.contains("Nothing waits"), none.whole());
    const Answer busy = m_own.run(longRun("busy") << "--queue"); // the node is free
    QVERIFY2(busy.exitCode == 0, busy.whole());
    QTRY_VERIFY_WITH_TIMEOUT(isIn("busy", RunStateKind::kRunning), kDeadlineMs);
    const Answer queued = m_own.run(longRun("next") << "--queue");
    QVERIFY2(queued.exitCode == 0, queued.whole());
    QVERIFY2(queued.out.contains("number 1 of 1 in the queue, for this-computer; busy trains on "
                                 "this-computer"),
             queued.whole());
    QVERIFY2(queued.err.contains("ringmaster queue work"), queued.whole());
    QVERIFY(isIn("next", RunStateKind::kWaiting));
    QVERIFY(m_own.run({"runs"}).out.contains("  queued  "));
    const Answer pause = m_own.run({"pause", "next"});
    QVERIFY2(pause.exitCode != 0 && pause.err.contains("it waits in the queue"), pause.whole());
    const auto work = m_own.start({"queue", "work"});
    QVERIFY2(m_own.run({"stop", "busy"}).exitCode == 0, "stop busy");
    QTRY_VERIFY2_WITH_TIMEOUT(isIn("next", RunStateKind::kRunning), work->readAllStandardError(),
                              kDeadlineMs);
    QTRY_COMPARE_WITH_TIMEOUT(work->state(), QProcess::NotRunning, kDeadlineMs); // nothing waits
    QCOMPARE(work->exitCode(), 0);
    QVERIFY2(m_own.run({"stop", "next"}).exitCode == 0, "stop next");
}

void TestCliQueue::theOrderIsChangedAndARunIsTakenOut() {
    QVERIFY2(m_own.run(longRun("first")).exitCode == 0, "launch");
    for (const char* name : {"a", "b", "c"})
        QVERIFY2(m_own.run(longRun(name) << "--queue").exitCode == 0, name);
    const Answer moved = m_own.run({"queue", "move", "c", "first", "--json"});
    QVERIFY2(moved.exitCode == 0, moved.whole());
    QStringList names;
    const auto rows = moved.json().array();
    for (const auto& row : rows)
        names << row.toObject()["name"].toString();
    QCOMPARE(names, (QStringList{"c", "a", "b"}));
    QCOMPARE(m_own.run({"queue", "move", "first", "1"}).exitCode,
             static_cast<int>(ExitCode::kNotFound));
    QVERIFY(m_own.run({"queue", "move", "c", "0"}).exitCode != 0);
    for (const char* command : {"stop", "kill"}) {
        const QString name = QByteArray(command) == "stop" ? "c" : "a";
        const Answer out = m_own.run({command, name});
        QVERIFY2(out.exitCode == 0 && out.out.contains("taken out of the queue"), out.whole());
        QVERIFY(isIn(name, RunStateKind::kStopped));
    }
    QCOMPARE(queue().size(), qsizetype(1));
    // One that was taken out can be queued again.
    const Answer like = m_own.run({"run", "--like", "c", "--set", "name=d", "--queue"});
    QVERIFY2(like.exitCode == 0, like.whole());
    QCOMPARE(queue().size(), qsizetype(2));
    QVERIFY2(m_own.run({"stop", "d"}).exitCode == 0, "stop d");
    QVERIFY2(m_own.run({"stop", "b"}).exitCode == 0, "stop b");
    QVERIFY2(m_own.run({"stop", "first"}).exitCode == 0, "stop first");
}

void TestCliQueue::whatWaitsIsStartedByWhoeverComesNext() {
    QVERIFY2(m_own.run(longRun("before")).exitCode == 0, "launch");
    const auto waits = m_own.start(longRun("killed-terminal") << "--queue"
                                                              << "--wait");
    QTRY_VERIFY2_WITH_TIMEOUT(isIn("killed-terminal", RunStateKind::kWaiting),
                              waits->readAllStandardError(), kDeadlineMs);
    waits->kill();
    QVERIFY(waits->waitForFinished(kDeadlineMs));
    QVERIFY2(m_own.run({"stop", "before"}).exitCode == 0, "stop before");
    QVERIFY(isIn("killed-terminal", RunStateKind::kWaiting));
    // One that only looks does not start it.
    QCOMPARE(queue().size(), qsizetype(1));
    QVERIFY(isIn("killed-terminal", RunStateKind::kWaiting));
    const Answer work = m_own.run({"queue", "work"});
    QVERIFY2(work.exitCode == 0, work.whole());
    QTRY_VERIFY_WITH_TIMEOUT(isIn("killed-terminal", RunStateKind::kRunning), kDeadlineMs);
    QVERIFY2(m_own.run({"stop", "killed-terminal"}).exitCode == 0, "stop");
}

void TestCliQueue::aNodeThatIsAwayHoldsUpNobodyElse() {
    quint16 port = 0;
    {
        QTcpServer closed; // nobody listens at its port any more
        QVERIFY(closed.listen(QHostAddress::LocalHost));
        port = closed.serverPort();
    }
    const Answer added = m_own.run(
        {"nodes", "add", "away", "--no-check", "--ssh", "127.0.0.1:" + QString::number(port)});
    QVERIFY2(added.exitCode == 0, added.whole());
    const Answer away = m_own.run(shortRun("for-away") << "--queue");
    QVERIFY2(away.err.contains("for-away"), away.whole());
    QVERIFY(isIn("for-away", RunStateKind::kWaiting));
    QVERIFY(queue()[0].toObject()["waits_for"].toString().contains("127.0.0.1"));
    const Answer here = m_own.run(shortRun("for-here") << "--node"
                                                       << "this-computer:1"
                                                       << "--queue"
                                                       << "--take"
                                                       << "1"
                                                       << "--wait");
    QVERIFY2(here.exitCode == 0, here.whole());
    QVERIFY2(isIn("for-here", RunStateKind::kFinished), here.whole());
    QVERIFY(isIn("for-away", RunStateKind::kWaiting));
    QVERIFY2(m_own.run({"stop", "for-away"}).exitCode == 0, "stop");
}

void TestCliQueue::theBetterHalfOfASweepGoesOn() {
    const Answer sweep = m_own.run({"sweep",     "gpt-tiny",
                                    "--set",     "name=swept",
                                    "--set",     "train.steps=8",
                                    "--set",     "model.layers=1",
                                    "--set",     "validation.batches=1",
                                    "--set",     "schedule.warmup_steps=0",
                                    "--set",     "schedule.min_lr=0",
                                    "--vary",    "lr=1e-9,3e-3,1e-8,1e-3",
                                    "--halving", "2",
                                    "--node",    "this-computer:1",
                                    "--wait",    "--json"},
                                   4 * kDeadlineMs);
    QVERIFY2(sweep.exitCode == 0, sweep.whole());
    std::map<QString, int> ends;
    const auto runs = sweep.json().object()["runs"].toArray();
    for (const auto& each : runs) {
        const auto run = each.toObject();
        QCOMPARE(run["sweep"], sweep.json().object()["sweep"]);
        ends[run["state"].toString() + " at " + QString::number(run["steps"].toInt())]++;
        // Those that did not learn are not those that went on.
        if (run["name"].toString().contains("1e-9") || run["name"].toString().contains("1e-8"))
            QVERIFY2(run["steps"].toInt() == 2, sweep.whole());
    }
    QCOMPARE(ends, (std::map<QString, int>{
                       {"finished at 8", 1}, {"stopped at 4", 1}, {"stopped at 2", 2}}));
    QVERIFY2(sweep.out.contains("number 4 of 4 at step 2, of which 2 went on"), sweep.whole());
    QVERIFY(queue().isEmpty());
}

void TestCliQueue::aSweepThatCannotBeIsRefusedBeforeAnythingIsStored() {
    const auto stored = m_own.run({"runs", "--json"}).json().array().size();
    for (const QStringList& words :
         {QStringList{"--vary", "dropout=0,7"}, QStringList{"--vary", "lr=1e-4..1e-2"},
          QStringList{"--vary", "lr=1e-3,3e-4", "--take", "2"},
          QStringList{"--vary", "lr=1e-3", "--node", "nowhere"},
          QStringList{"--vary", "lr=1e-3", "--set", "checkpoint.on_existing=resume"}}) {
        const Answer refused = m_own.run(QStringList{"sweep", "gpt-tiny"} + words);
        QVERIFY2(refused.exitCode != 0 && !refused.err.isEmpty(), refused.whole());
    }
    QCOMPARE(m_own.run({"runs", "--json"}).json().array().size(), stored);
    const Answer preview = m_own.run({"sweep", "gpt-tiny", "--vary", "lr=1e-3,3e-4", "--preview"});
    QVERIFY2(preview.exitCode == 0 && preview.out.contains("2 runs"), preview.whole());
    QCOMPARE(m_own.run({"runs", "--json"}).json().array().size(), stored);
}

QTEST_GUILESS_MAIN(TestCliQueue)
#include "tst_cli_queue.moc"
