// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/core/store/store_fixture.h"

namespace rm {

namespace {

const QueuedPlace kAny{{{"node-a", 2}, {"node-b", 0}}, 1, true};

NewRun newRun(const QString& id) {
    return {id, id, "[train]\nsteps = 70\n", {{0, "node-a", 2, 0}, {1, "node-b", 0, 0}}, {}, 0};
}

/// "a b c", those that wait.
QString order(StoreFixture& store) {
    QStringList runs;
    for (const QueueEntry& entry : store.reader().queue())
        runs << entry.run;
    return runs.join(' ');
}

} // namespace

class TestStoreQueue : public QObject {
    Q_OBJECT

    static void enqueue(StoreFixture& store, const QStringList& ids) {
        std::vector<NewRun> runs;
        for (const QString& id : ids)
            runs.push_back(newRun(id));
        StoreFixture::mustBeOk(store.writer().enqueue(runs, kAny));
    }

private Q_SLOTS:
    void aRunThatWaitsIsARowLikeAnyOther() {
        StoreFixture store;
        enqueue(store, {"a", "b"});
        const auto run = store.reader().run("b");
        QVERIFY(run);
        QCOMPARE(run->state, RunStateKind::kWaiting);
        QCOMPARE(std::string(runStateName(*run)), std::string("queued"));
        QCOMPARE(run->queuePlace, 2);
        QCOMPARE(run->totalSteps, 70);
        QVERIFY(!hasEnded(run->state) && !isLive(run->state));
        QVERIFY(liveRunsOn(store.reader().runs(), "node-a").isEmpty());
        QVERIFY(store.reader().liveRuns().empty());
        QCOMPARE(store.reader().queue().at(1), (QueueEntry{"b", kAny, {}}));
        store.reopen();
        QCOMPARE(order(store), "a b");
    }

    void theOrderCanBeChanged() {
        StoreFixture store;
        enqueue(store, {"a", "b", "c"});
        StoreFixture::mustBeOk(store.writer().moveInQueue("c", 0));
        QCOMPARE(order(store), "c a b");
        QCOMPARE(store.reader().run("b")->queuePlace, 3);
        StoreFixture::mustBeOk(store.writer().moveInQueue("c", 1));
        QCOMPARE(order(store), "a c b");
        StoreFixture::mustBeOk(store.writer().moveInQueue("a", 99));
        QCOMPARE(order(store), "c b a");
        StoreFixture::mustBeOk(store.writer().moveInQueue("a", -5));
        QCOMPARE(order(store), "a c b");
        enqueue(store, {"d"});
        QCOMPARE(order(store), "a c b d");
        store.createRun("x");
        QCOMPARE(store.writer().moveInQueue("x", 0).error().code, ErrorCode::kNotFound);
    }

    void aRunThatStartsLeavesTheQueue() {
        StoreFixture store;
        enqueue(store, {"a", "b"});
        QCOMPARE(store.reader().run("b")->queuePlace, 2);
        NewRun started = newRun("a");
        started.nodes = {{0, "node-b", 4, 0}};
        StoreFixture::mustBeOk(store.writer().createRun(started));
        QCOMPARE(order(store), "b");
        QCOMPARE(store.reader().run("b")->queuePlace, 1);
        const auto run = store.reader().run("a");
        QCOMPARE(run->state, RunStateKind::kPreparing);
        QCOMPARE(run->queuePlace, 0);
        QCOMPARE(run->nodes, (std::vector<RunNode>{{0, "node-b", 4, 0}}));
        QCOMPARE(store.writer().createRun(started).error().code, ErrorCode::kInvalid);
    }

    void aRunThatIsTakenOutIsStopped() {
        StoreFixture store;
        enqueue(store, {"a", "b"});
        StoreFixture::mustBeOk(
            store.writer().dequeue("a", RunStateKind::kStopped, "it was taken out"));
        QCOMPARE(order(store), "b");
        QCOMPARE(store.reader().run("a")->state, RunStateKind::kStopped);
        QCOMPARE(store.reader().run("a")->message, "it was taken out");
        StoreFixture::mustBeOk(store.writer().dequeue("a", RunStateKind::kFailed, "again"));
        QCOMPARE(store.reader().run("a")->state, RunStateKind::kStopped);
    }

    void aRunThatGoesOnKeepsItsStateWhileItWaits() {
        StoreFixture store;
        store.createRun("a");
        StoreFixture::mustBeOk(store.writer().setState("a", RunStateKind::kPaused));
        enqueue(store, {"b"});
        StoreFixture::mustBeOk(store.writer().enqueueAgain("a", kAny));
        QCOMPARE(order(store), "b a");
        QCOMPARE(store.reader().run("a")->state, RunStateKind::kPaused);
        QCOMPARE(store.reader().run("a")->queuePlace, 2);
        StoreFixture::mustBeOk(store.writer().dequeue("b", RunStateKind::kStopped, {}));
        StoreFixture::mustBeOk(store.writer().beginAttempt("a", {2, 10, {}, {}}));
        QCOMPARE(order(store), "");
        QCOMPARE(store.reader().run("a")->queuePlace, 0);
    }

    void aLaunchThatFailedWaitsAgainInItsPlace() {
        StoreFixture store;
        enqueue(store, {"a", "b", "c"});
        for (const char* run : {"a", "b"})
            StoreFixture::mustBeOk(store.writer().createRun(newRun(run)));
        // Its ranks may live: the next Ringmaster looks for them.
        StoreFixture::mustBeOk(store.writer().requeue({"b", kAny, {}}, {"c"}, "no"));
        QCOMPARE(order(store), "c");
        StoreFixture::mustBeOk(store.writer().setState("b", RunStateKind::kFailed, "no"));
        enqueue(store, {"d"});
        StoreFixture::mustBeOk(store.writer().moveInQueue("d", 0));
        StoreFixture::mustBeOk(store.writer().requeue({"b", kAny, {}}, {"c"}, "node-a is away"));
        QCOMPARE(order(store), "d b c"); // a, which stood before it, is gone
        QCOMPARE(store.reader().run("b")->state, RunStateKind::kWaiting);
        QCOMPARE(store.reader().queue().at(1).why, std::string("node-a is away"));
        // One that was refused before it left the queue keeps the place that it has now.
        StoreFixture::mustBeOk(store.writer().moveInQueue("b", 9));
        StoreFixture::mustBeOk(store.writer().requeue({"b", kAny, {}}, {"c"}, "away still"));
        QCOMPARE(order(store), "d c b");
        QCOMPARE(store.reader().queue().at(2).why, std::string("away still"));
    }

    void anInterruptedLaunchWaitsAgain() {
        StoreFixture store;
        enqueue(store, {"a", "b", "c"});
        for (const char* run : {"a", "b"})
            StoreFixture::mustBeOk(store.writer().createRun(newRun(run)));
        StoreFixture::mustBeOk(store.writer().beginAttempt("b", {1, 0, {}, {}}));
        store.createRun("x");
        store.reopen();
        StoreFixture::mustBeOk(store.writer().requeueInterrupted());
        QCOMPARE(order(store), "a c");
        QCOMPARE(store.reader().run("a")->state, RunStateKind::kWaiting);
        QCOMPARE(store.reader().run("b")->state, RunStateKind::kPreparing); // ranks may live
        QCOMPARE(store.reader().run("x")->state, RunStateKind::kPreparing);
        QCOMPARE(store.reader().wholePlaces("a").size(), size_t(2)); // to be launched like it
    }

    void aVerdictIsGivenOnce() {
        StoreFixture store;
        const StoredSweep sweep{"s", kAny, 2};
        StoreFixture::mustBeOk(store.writer().enqueue({newRun("a"), newRun("b")}, kAny, sweep));
        for (const char* run : {"a", "b"}) {
            StoreFixture::mustBeOk(store.writer().createRun(newRun(run)));
            StoreFixture::mustBeOk(store.writer().beginAttempt(run, {1, 0, {}, {}}));
            StoreFixture::mustBeOk(store.writer().setState(run, RunStateKind::kPaused));
        }
        QCOMPARE(store.reader().runsOfHalvingSweeps().size(), size_t(2));
        const std::vector<SweepVerdict> verdicts = {{"a", 10, true, kAny, {}},
                                                    {"b", 10, false, {}, "ended by its sweep"}};
        StoreFixture::mustBeOk(store.writer().applyVerdicts(verdicts));
        QCOMPARE(order(store), "a");
        QCOMPARE(store.reader().run("a")->rung, int64_t(10));
        QCOMPARE(store.reader().run("b")->rung, int64_t(-10));
        QCOMPARE(store.reader().run("b")->state, RunStateKind::kStopped);
        QCOMPARE(store.reader().run("b")->message, "ended by its sweep");
        StoreFixture::mustBeOk(store.writer().dequeue("a", RunStateKind::kStopped, {}));
        StoreFixture::mustBeOk(store.writer().applyVerdicts(verdicts));
        QCOMPARE(order(store), "");
    }

    void aSweepIsStoredWholeOrNotAtAll() {
        StoreFixture store;
        store.createRun("b");
        const StoredSweep sweep{"s", kAny, 3};
        QVERIFY(!store.writer().enqueue({newRun("a"), newRun("b")}, kAny, sweep));
        QVERIFY(!store.reader().run("a"));
        QVERIFY(!store.reader().sweep("s"));
        StoreFixture::mustBeOk(store.writer().enqueue({newRun("a"), newRun("c")}, kAny, sweep));
        QCOMPARE(store.reader().sweep("s"), std::optional(sweep));
        QCOMPARE(store.reader().run("c")->sweep, "s");
        QCOMPARE(store.reader().runsOfHalvingSweeps().size(), size_t(2));
        for (const char* run : {"a", "c"})
            StoreFixture::mustBeOk(store.writer().dequeue(run, RunStateKind::kStopped, {}));
        QVERIFY(store.reader().runsOfHalvingSweeps().empty());
    }

    void aDeletedRunWaitsNoMore() {
        StoreFixture store;
        enqueue(store, {"a", "b"});
        StoreFixture::mustBeOk(store.writer().setDeleted("a", true));
        QCOMPARE(order(store), "b");
        QCOMPARE(store.reader().run("b")->queuePlace, 1);
        QVERIFY(store.writer().purgeDeleted(INT64_MAX));
        QCOMPARE(order(store), "b");
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestStoreQueue)
#include "tst_store_queue.moc"
