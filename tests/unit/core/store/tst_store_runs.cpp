// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/parts_of_run.h"
#include "app/core/store/series.h"
#include "app/core/store/step_samples.h"
#include "app/core/store/store_writer.h"
#include "shared/exit_code.h"
#include "shared/io/clock.h"
#include "shared/journal/event_codes.h"
#include "shared/journal/first_cause.h"
#include "shared/spec/run_spec.h"
#include "tests/unit/core/store/store_fixture.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cmath>

namespace rm {

namespace {

constexpr int kPeerLost = static_cast<int>(ExitCode::kPeerLost);

AttemptEnded ended(int attempt, Outcome outcome, int rank = -1, int exitCode = 0) {
    return {attempt, outcome, rank, exitCode, 9'000, "the agent's words"};
}

RankExited exited(int attempt, int rank, int exitCode, int signal, int64_t wallNs,
                  const std::string& message) {
    return {attempt, rank, exitCode, signal, wallNs, message, "last lines"};
}

RequestedCommand setLr(const std::string& id, int64_t requestedNs) {
    return {.id = id,
            .kind = "set",
            .args = {{"optimizer.lr", "0.1"}},
            .by = {"kc", RequestedFrom::kTerminal},
            .requestedNs = requestedNs};
}

} // namespace

class TestStoreRuns : public QObject {
    Q_OBJECT

    RunStateKind state(StoreFixture& store) { return store.reader().run("a")->state; }

private Q_SLOTS:
    void newRunIsWhatWasAsked() {
        StoreFixture store;
        NewRun requested{
            "a",      "first", "[train]\nsteps = 250\n", {{0, "node-a", 3, 0}, {1, "node-b", 1, 3}},
            "parent", 40};
        StoreFixture::mustBeOk(store.writer().createRun(requested));
        QCOMPARE(store.writer().createRun(requested).error().code, ErrorCode::kInvalid);
        const RunSummary run = *store.reader().run("a");
        QCOMPARE(run.name, "first");
        QCOMPARE(run.state, RunStateKind::kPreparing);
        QCOMPARE(run.ranks, 4);
        QVERIFY(run.nodes == requested.nodes);
        QCOMPARE(run.totalSteps, int64_t(250));
        QCOMPARE(run.parentRun, "parent");
        QCOMPARE(run.parentStep, int64_t(40));
        QCOMPARE(run.step, int64_t(40)); // where it begins
        QCOMPARE(run.trainedSteps(), int64_t(0));
        QVERIFY(!run.loss && !run.validationLoss);
        QCOMPARE(store.reader().specToml("a"), requested.specToml);
    }

    void howManyStepsEpochsAreIsSaidByRankZero() {
        StoreFixture store;
        StoreFixture::mustBeOk(store.writer().createRun(
            {"a", "first", "[train]\nsteps = 250\nepochs = 3\n", {{0, "node-a", 2, 0}}, {}, 0}));
        QCOMPARE(store.reader().run("a")->totalSteps, int64_t(0));
        store.ingest("a", {started(1, 0, 0), StepsPlanned{1200}});
        QCOMPARE(store.reader().run("a")->totalSteps, int64_t(1200));
        store.ingest("a", {StepsPlanned{-1}});
        QCOMPARE(store.reader().run("a")->totalSteps, int64_t(1200));
    }

    /// Rank 0's journal has the events of slow ranks, whatever node they are on.
    void aSlowRankOnAnotherNodeIsNamed() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        const auto event = [](int rank, const char* code) {
            return Event{rank, 5, 1'000, Severity::kWarning, code, "computing takes 48 ms"};
        };
        store.ingest("a", {started(1, 0, 0, 4), started(1, 1, 0, 4), event(3, kRankSlowEvent),
                           event(1, kRankSlowEvent), event(3, kRankKeepsUpEvent)});
        std::vector<StoredEvent> events = store.reader().events("a"); // newest first
        QCOMPARE(events.size(), size_t(3));
        QCOMPARE(events[2].event.rank, 3);
        QCOMPARE(events[2].nodeIndex, 1);
        QCOMPARE(events[1].nodeIndex, 0);
        QCOMPARE(events[0].event.code, std::string(kRankKeepsUpEvent));
        QCOMPARE(events[0].attempt, 1);
        // Nothing else is told of another node's ranks, nor that by another node, nor of no rank.
        store.ingest("a", {event(3, "other"), event(9, kRankSlowEvent)});
        store.ingest("a", {event(0, kRankSlowEvent)}, 1);
        events = store.reader().events("a");
        QCOMPARE(events.size(), size_t(5));
        QCOMPARE(events[0].event.code, std::string("record-refused"));
        QVERIFY2(events[0].event.message.ends_with("1 record of a node makes no sense: rank 0"),
                 events[0].event.message.c_str());
        QVERIFY2(events[1].event.message.ends_with("2 records of a node make no sense, first: "
                                                   "rank 3"),
                 events[1].event.message.c_str());
    }

    void editsAreSeen() {
        StoreFixture store;
        store.createRun("a");
        StoreFixture::mustBeOk(store.writer().setNotes("a", "näher\nzwei"));
        StoreFixture::mustBeOk(store.writer().setTags("a", {"x,y", "\"quoted\"", "☃"}));
        const RunSummary run = *store.reader().run("a");
        QCOMPARE(run.notes, "näher\nzwei");
        QCOMPARE(run.tags, QStringList({"x,y", "\"quoted\"", "☃"}));
        QCOMPARE(store.writer().setNotes("b", "").error().code, ErrorCode::kNotFound);
    }

    void marksAreSetAndTaken() {
        StoreFixture store;
        store.createRun("a");
        QVERIFY(!store.reader().run("a")->isStarred && !store.reader().run("a")->isArchived);
        StoreFixture::mustBeOk(store.writer().setStarred("a", true));
        StoreFixture::mustBeOk(store.writer().setArchived("a", true));
        QVERIFY(store.reader().run("a")->isStarred && store.reader().run("a")->isArchived);
        QCOMPARE(store.reader().runs().size(), size_t(1)); // an archived run is no deleted one
        StoreFixture::mustBeOk(store.writer().setStarred("a", false));
        QVERIFY(!store.reader().run("a")->isStarred && store.reader().run("a")->isArchived);
        StoreFixture::mustBeOk(store.writer().setArchived("a", false));
        QVERIFY(!store.reader().run("a")->isArchived);
        QCOMPARE(store.writer().setStarred("b", true).error().code, ErrorCode::kNotFound);
    }

    void renamedRunIsCalledSoEverywhere() {
        StoreFixture store;
        StoreFixture::mustBeOk(store.writer().createRun(
            {"a", "first", "# mine\nname = \"first\"  # so\n", {}, {}, 0}));
        StoreFixture::mustBeOk(store.writer().createRun({"b", "branch", "", {}, "a", 5}));
        QCOMPARE(store.reader().run("b")->parentName, "first");
        StoreFixture::mustBeOk(store.writer().setName("a", QString(64, QChar(0xe9))));
        StoreFixture::mustBeOk(store.writer().setName("a", "näher, lr 5e-4"));
        QCOMPARE(store.reader().run("a")->name, "näher, lr 5e-4");
        QCOMPARE(store.reader().run("b")->parentName, "näher, lr 5e-4");
        QCOMPARE(store.reader().resolve("näher, lr 5e-4")->id, "a");
        QVERIFY(!store.reader().resolve("first"));
        const auto spec = parseRunSpec(store.reader().specToml("a"), "spec.toml");
        QCOMPARE(spec->name, std::string("näher, lr 5e-4"));
        QVERIFY(store.reader().specToml("a").starts_with("# mine\n"));
        // To what it is called already, and to a name that became free.
        StoreFixture::mustBeOk(store.writer().setName("a", "näher, lr 5e-4"));
        StoreFixture::mustBeOk(store.writer().setDeleted("a", true));
        StoreFixture::mustBeOk(store.writer().setName("b", "näher, lr 5e-4"));
    }

    void aRunInTheTrashDoesNotGoOn() {
        StoreFixture store;
        store.createRun("a");
        StoreFixture::mustBeOk(store.writer().setDeleted("a", true));
        NewAttempt next;
        next.attempt = 2;
        const auto begun = store.writer().beginAttempt("a", next);
        QVERIFY(!begun);
        QVERIFY2(begun.error().message.find("it is in the trash") != std::string::npos,
                 begun.error().message.c_str());
        StoreFixture::mustBeOk(store.writer().setDeleted("a", false));
        StoreFixture::mustBeOk(store.writer().beginAttempt("a", next));
    }

    void nameThatIsNoneOrTakenIsRefused_data() {
        QTest::addColumn<QString>("name");
        QTest::newRow("empty") << QString();
        QTest::newRow("two lines") << "one\ntwo";
        QTest::newRow("too long") << QString(65, 'x');
        QTest::newRow("control character") << "bell\a";
        QTest::newRow("blank ends") << " mine ";
        QTest::newRow("taken") << "other";
        QTest::newRow("another's id") << "b-1";
    }
    void nameThatIsNoneOrTakenIsRefused() {
        QFETCH(QString, name);
        StoreFixture store;
        store.createRun("a-1", "mine");
        store.createRun("b-1", "other");
        const auto renamed = store.writer().setName("a-1", name);
        QVERIFY(!renamed);
        QCOMPARE(renamed.error().code, ErrorCode::kInvalid);
        QVERIFY(renamed.error().message.starts_with("rename run a-1: "));
        QCOMPARE(store.reader().run("a-1")->name, "mine");
    }

    void nameComesBeforeTheStartOfAnId() {
        StoreFixture store;
        store.createRun("gpt-1", "old");
        store.createRun("x-2", "gpt");
        QCOMPARE(store.reader().resolve("gpt")->id, "x-2");
        QCOMPARE(store.reader().resolve("gpt-")->id, "gpt-1");
    }

    void runWhoseFolderIsGoneBeginsItsFilesAnew() {
        StoreFixture store;
        store.createRun("a");
        const auto saved = [](int64_t step, const std::string& path) {
            CheckpointSaved checkpoint;
            checkpoint.step = step;
            checkpoint.path = path;
            return checkpoint;
        };
        IngestBatch batch = StoreFixture::batch(
            "a", {started(1, 0, 0), saved(10, "/s/runs/a/checkpoints/step-000000010"),
                  saved(20, "/s/runs/ab/step-000000020")});
        batch.cursors = {{"journal/rank-00000.rmj", 100}};
        StoreFixture::mustBeOk(store.writer().ingest(batch));
        IngestBatch elsewhere = StoreFixture::batch("a", {}, 1);
        elsewhere.cursors = {{"journal/rank-00001.rmj", 50}};
        StoreFixture::mustBeOk(store.writer().ingest(elsewhere));
        StoreFixture::mustBeOk(store.writer().setFolderRemoved("a", "node-c", "/s/runs/a"));
        QVERIFY(std::ranges::none_of(store.reader().checkpoints("a"), &StoredCheckpoint::removed));
        StoreFixture::mustBeOk(store.writer().setFolderRemoved("a", "node-a", "/s/runs/a"));
        QVERIFY(store.reader().cursors("a", 0).empty());
        QCOMPARE(store.reader().cursors("a", 1).size(), size_t(1));
        for (const StoredCheckpoint& each : store.reader().checkpoints("a"))
            QCOMPARE(each.removed, each.saved.step == 10);
        batch.records = {started(2, 0, 10)};
        batch.previous = {{"journal/rank-00000.rmj", 0}};
        StoreFixture::mustBeOk(store.writer().ingest(batch));
    }

    void aRunThatWentOnWithoutANodeRemembersIt() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        const auto whole = store.reader().wholePlaces("a");
        QCOMPARE(whole, store.reader().run("a")->nodes);
        store.ingest("a", {started(1, 0, 0), AttemptPlanned{2, 10, {}, {{0, 0, 2}}}});
        const auto last = store.reader().run("a")->nodes;
        QCOMPARE(last.size(), size_t(2));
        QCOMPARE(last[1].ranks, 0);
        QCOMPARE(store.reader().wholePlaces("a"), whole);
        QCOMPARE(partWords(last, whole),
                 std::string("It last trained on 2 of its 4 ranks, without node-b; it goes on with "
                             "all."));
        QVERIFY(partWords(whole, whole).empty());
        RunSummary run;
        QVERIFY(unreadWords(run).empty());
        run.unreadNodes = {"node-b"};
        QVERIFY(unreadWords(run).starts_with("Not all that node-b has of it was read"));
        // A person chose the one node.
        StoreFixture::mustBeOk(
            store.writer().beginAttempt("a", {3, 10, {}, {{0, "node-a", 2, 0}}}));
        QCOMPARE(store.reader().wholePlaces("a").size(), size_t(1));
    }

    void aNodeOfAnEarlierAttemptTakesItsOwnCheckpointsAlone() {
        StoreFixture store;
        store.createRun("a", "run", 1);
        CheckpointSaved saved;
        saved.step = 10;
        saved.path = "/s/runs/a/checkpoints/step-000000010";
        store.ingest("a", {started(1, 0, 0), saved});
        StoreFixture::mustBeOk(
            store.writer().beginAttempt("a", {2, 10, saved.path, {{0, "node-b", 2, 0}}}));
        saved.step = 20;
        saved.path = "/s/runs/a/checkpoints/step-000000020";
        IngestBatch batch = StoreFixture::batch("a", {started(2, 0, 10), saved});
        batch.cursors = {{"journal/rank-00000.rmj", 100}};
        StoreFixture::mustBeOk(store.writer().ingest(batch));
        QCOMPARE(store.reader().places("a").size(), size_t(2));
        StoreFixture::mustBeOk(store.writer().setFolderRemoved("a", "node-a", "/s/runs/a"));
        for (const StoredCheckpoint& each : store.reader().checkpoints("a"))
            QCOMPARE(each.removed, each.saved.step == 10);
        QCOMPARE(store.reader().cursors("a", 0).size(), size_t(1));
        StoreFixture::mustBeOk(store.writer().setFolderRemoved("a", "node-b", "/s/runs/a"));
        QVERIFY(store.reader().cursors("a", 0).empty());
        QVERIFY(std::ranges::all_of(store.reader().checkpoints("a"), &StoredCheckpoint::removed));
    }

    void aNodeThatLostItsRunsHasNoCheckpointOfAny() {
        StoreFixture store;
        for (const char* run : {"a", "b"}) {
            store.createRun(run, run, 1);
            CheckpointSaved saved;
            saved.step = 10;
            saved.path = std::string("/s/runs/") + run + "/checkpoints/step-000000010";
            CheckpointSaved elsewhere;
            elsewhere.step = 20;
            elsewhere.path = "/mnt/step-000000020";
            IngestBatch batch = StoreFixture::batch(run, {started(1, 0, 0), saved, elsewhere});
            batch.cursors = {{"journal/rank-00000.rmj", 100}};
            StoreFixture::mustBeOk(store.writer().ingest(batch));
        }
        const auto removedSteps = [&store](const QString& run) {
            std::vector<int64_t> steps;
            for (const StoredCheckpoint& each : store.reader().checkpoints(run))
                if (each.removed)
                    steps.push_back(each.saved.step);
            return steps;
        };
        StoreFixture::mustBeOk(store.writer().setRunsRemoved("node-b", "/s"));
        QVERIFY(removedSteps("a").empty() && !store.reader().cursors("a", 0).empty());
        StoreFixture::mustBeOk(store.writer().setRunsRemoved("node-a", "/s"));
        for (const char* run : {"a", "b"}) {
            QCOMPARE(removedSteps(run), std::vector<int64_t>{10});
            QVERIFY(store.reader().cursors(run, 0).empty());
        }
    }

    void anAttemptThatAgentsBeganHasTheRuntimeOfTheOneBefore() {
        StoreFixture store;
        store.createRun("a", "run", 1);
        StoreFixture::mustBeOk(
            store.writer().beginAttempt("a", {1, 0, "", {{0, "node-a", 1, 0}}, 0, "cuda12"}));
        store.ingest("a", {started(1, 0, 0), started(2, 0, 10)});
        auto attempts = store.reader().attempts("a");
        QCOMPARE(attempts.size(), size_t(2));
        QCOMPARE(attempts[1].runtime, std::string("cuda12"));
        StoreFixture::mustBeOk(
            store.writer().beginAttempt("a", {3, 10, "", {{0, "node-b", 1, 0}}, 0, "cuda13"}));
        attempts = store.reader().attempts("a");
        QCOMPARE(attempts[0].runtime, std::string("cuda12"));
        QCOMPARE(attempts[2].runtime, std::string("cuda13"));
    }

    void whatWasAskedIsStoredWithWhoAndWhen() {
        StoreFixture store;
        store.createRun("a");
        const RequestedCommand requested = setLr("id-1", 1000);
        const auto stored = store.writer().addCommand("a", requested);
        QVERIFY(stored && *stored == requested);
        QVERIFY(store.writer().addCommand("a", setLr("id-0", 500)));
        QCOMPARE(store.reader().requestedCommands("a").front(), requested); // newest first
        QCOMPARE(store.reader().openCommands("a").back(), requested);       // oldest first
        StoreFixture::mustBeOk(
            store.writer().setCommandState("a", "id-1", RequestedState::kAccepted));
        const RequestedCommand accepted = store.reader().openCommands("a").back();
        QCOMPARE(accepted.state, RequestedState::kAccepted);
        QVERIFY(accepted.acceptedNs > requested.requestedNs);
        QCOMPARE(accepted.answeredNs, int64_t(0));
        store.ingest("a", {started(1, 0, 0), CommandApplied{"id-1", "set", 7, 2000, true, "lr"}});
        const RequestedCommand applied = store.reader().requestedCommands("a").front();
        QCOMPARE(applied.state, RequestedState::kApplied);
        QCOMPARE(applied.step, int64_t(7));
        QCOMPARE(applied.answer, std::string("lr"));
        QCOMPARE(applied.answeredNs, int64_t(2000));
        QCOMPARE(applied.acceptedNs, accepted.acceptedNs);
        QCOMPARE(store.reader().openCommands("a").size(), size_t(1));
    }

    void aKnownCommandIsNotAskedForAgain() {
        StoreFixture store;
        store.createRun("a");
        QVERIFY(store.writer().addCommand("a", setLr("id-1", 1000)));
        StoreFixture::mustBeOk(
            store.writer().setCommandState("a", "id-1", RequestedState::kRefused, -1, "no"));
        const auto again = store.writer().addCommand("a", setLr("id-1", 9000));
        QVERIFY(again && again->state == RequestedState::kRefused && again->requestedNs == 1000);
        // An answer is not taken back by another one of this side.
        StoreFixture::mustBeOk(
            store.writer().setCommandState("a", "id-1", RequestedState::kLapsed));
        QCOMPARE(store.reader().requestedCommands("a").front().answer, std::string("no"));
        QVERIFY(!store.writer().addCommand("none", setLr("id-2", 1)));
    }

    void whatTheRankSaysOfACommandCounts() {
        StoreFixture store;
        store.createRun("a");
        QVERIFY(store.writer().addCommand("a", setLr("id-1", 1000)));
        StoreFixture::mustBeOk(
            store.writer().setCommandState("a", "id-1", RequestedState::kWithdrawn));
        store.ingest("a", {started(1, 0, 0), CommandApplied{"id-1", "set", 7, 2000, true, ""},
                           CommandApplied{"id-2", "hold", 8, 3000, false, "no"}});
        const auto commands = store.reader().requestedCommands("a");
        QCOMPARE(commands.size(), size_t(2));
        QCOMPARE(commands[1].state, RequestedState::kApplied);
        QCOMPARE(commands[0].state, RequestedState::kRefused);
        QCOMPARE(commands[0].by, (Requester{{}, RequestedFrom::kElsewhere}));
    }

    void aRunThatIsCancelledWhileItWaitsToBeStartedAgainIsStopped() {
        StoreFixture store;
        store.createRun("a", "run", 2, 1);
        AttemptEnded waits = ended(1, Outcome::kPreempted);
        waits.resumes = true;
        for (const int node : {0, 1})
            store.ingest("a", {started(1, node, 0), waits}, node);
        QCOMPARE(state(store), RunStateKind::kPreparing);
        for (const int node : {0, 1}) { // of the second one is heard later
            store.ingest("a", {ended(1, Outcome::kStopped)}, node);
            QCOMPARE(state(store), RunStateKind::kStopped);
        }
    }

    void aConcludedEndIsThatOfTheNodesThatTellIt_data() {
        QTest::addColumn<int>("reported");
        QTest::addColumn<Outcome>("outcome");
        QTest::addColumn<RunStateKind>("concluded");
        QTest::newRow("rank 0 finished") << 0 << Outcome::kFinished << RunStateKind::kFinished;
        QTest::newRow("rank 0 paused") << 0 << Outcome::kPaused << RunStateKind::kPaused;
        QTest::newRow("only another") << 1 << Outcome::kFinished << RunStateKind::kFinished;
        QTest::newRow("only another, failed") << 1 << Outcome::kFailed << RunStateKind::kFailed;
        QTest::newRow("nobody") << -1 << Outcome::kFinished << RunStateKind::kFailed;
    }

    void aConcludedEndIsThatOfTheNodesThatTellIt() {
        QFETCH(int, reported);
        QFETCH(Outcome, outcome);
        QFETCH(RunStateKind, concluded);
        StoreFixture store;
        store.createRun("a", "run", 2, 1);
        for (const int node : {0, 1})
            store.ingest("a", {started(1, node, 0)}, node);
        if (reported >= 0)
            store.ingest("a", {ended(1, outcome)}, reported);
        QCOMPARE(state(store), RunStateKind::kRunning);
        StoreFixture::mustBeOk(store.writer().presumeEnd("a", "node-b has nothing of it"));
        QCOMPARE(state(store), concluded);
        QVERIFY(store.reader().run("a")->isPresumed);
        QCOMPARE(store.reader().run("a")->message.isEmpty(), concluded != RunStateKind::kFailed);
    }

    void aConcludedEndIsCorrectedByTheNodeThatTellsIt() {
        StoreFixture store;
        store.createRun("a", "run", 2, 1);
        for (const int node : {0, 1})
            store.ingest("a", {started(1, node, 0)}, node);
        StoreFixture::mustBeOk(store.writer().presumeEnd("a", "node-a has nothing of it"));
        QCOMPARE(state(store), RunStateKind::kFailed);
        for (const int node : {1, 0})
            store.ingest("a", {ended(1, Outcome::kFinished)}, node);
        QCOMPARE(state(store), RunStateKind::kFinished);
        QVERIFY(!store.reader().run("a")->isPresumed);
        QVERIFY(store.reader().run("a")->message.isEmpty());
        QCOMPARE(store.reader().events("a").front().event.code, std::string("end-corrected"));
    }

    void aRunThatLivesAfterAllIsRunningAgain() {
        StoreFixture store;
        store.createRun("a");
        StoreFixture::mustBeOk(store.writer().presumeEnd("a", "the launch was interrupted"));
        store.ingest("a", {started(1, 0, 0)});
        QCOMPARE(state(store), RunStateKind::kRunning);
        QVERIFY(!store.reader().run("a")->isPresumed);
    }

    void openCommandsLapseWhenTheRunGoesOnOrHasEnded() {
        StoreFixture store;
        store.createRun("a");
        store.createRun("b");
        for (const char* run : {"a", "b"})
            QVERIFY(store.writer().addCommand(run, setLr("id-1", 1000)));
        StoreFixture::mustBeOk(store.writer().beginAttempt("a", {2, 0, "", {{0, "node-a", 2, 0}}}));
        QCOMPARE(store.reader().requestedCommands("a").front().state, RequestedState::kLapsed);
        StoreFixture::mustBeOk(store.writer().closeCommandsOfEndedRuns());
        QCOMPARE(store.reader().openCommands("b").size(), size_t(1)); // it is being prepared
        StoreFixture::mustBeOk(store.writer().setState("b", RunStateKind::kFinished));
        StoreFixture::mustBeOk(store.writer().closeCommandsOfEndedRuns());
        QVERIFY(store.reader().openCommands("b").empty());
        QVERIFY(!store.reader().requestedCommands("b").front().answer.empty());
    }

    void aLongLogLosesItsOldestLinesAndSaysSo() {
        StoreFixture store;
        store.createRun("a", "run", 1, 2);
        constexpr size_t kLine = 4096;
        constexpr int kPerBatch = 1024;
        const auto perCap = static_cast<int>(kMostStoredLog / kLine);
        IngestBatch batch = StoreFixture::batch("a", {});
        int line = 0;
        const auto write = [&](int lines) {
            for (int done = 0; done < lines; done += kPerBatch) {
                batch.logLines.clear();
                for (int i = 0; i < kPerBatch; ++i) {
                    std::string text = std::to_string(line++) + " ";
                    text.resize(kLine, 'x');
                    batch.logLines.push_back({0, std::move(text)});
                }
                batch.cursors = {{"log/rank-00000.log", uint64_t(line) * kLine}};
                StoreFixture::mustBeOk(store.writer().ingest(batch));
            }
        };
        batch.logLines = {{1, "of another rank"}};
        StoreFixture::mustBeOk(store.writer().ingest(batch));
        write(perCap);
        QCOMPARE(store.reader().log("a", 0, -1, 1).front().text.substr(0, 2), std::string("0 "));
        for (int cut = 0; cut < 2; ++cut) { // the second one by a writer that has just begun
            write(cut == 0 ? kPerBatch : perCap / 4);
            const auto first = store.reader().log("a", 0, -1, 2);
            const int kept = std::stoi(first[1].text);
            QVERIFY(kept >= perCap / 4);
            const std::string words = "--- " + std::to_string(kept) + " lines before this one";
            QVERIFY2(first[0].text.starts_with(words), first[0].text.c_str());
            const auto last = store.reader().log("a", 0, 0, 1);
            QVERIFY(last.front().text.starts_with(std::to_string(line - 1) + " "));
            store.reopen();
        }
        QCOMPARE(store.reader().log("a", 1, 0, 10).size(), size_t(1));
    }

    void onlyTheNodeOfRankZeroBeginsAttempts() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        store.ingest("a", {started(1, 0, 0), lossAt(1, 1)});
        store.ingest("a", {RankStarted{1, 2, 70, 1}, started(1, 2, 0)}, 1);
        // A node that lies, or that is faster than that of rank 0.
        store.ingest("a", {RankStarted{2, 2, 71, 1}, started(2, 2, 0), lossAt(1, 9, 2)}, 1);
        QCOMPARE(store.reader().run("a")->attempt, 1);
        QCOMPARE(state(store), RunStateKind::kRunning);
        QCOMPARE(store.reader().attempts("a").size(), size_t(1));
        QCOMPARE(store.reader().points("a", {"train/loss", 0}).size(), size_t(1));
        QVERIFY(store.reader().points("a", {"train/loss", 2}).empty());
        store.ingest("a", {started(3, 2, 0)}, 1); // refused as a whole
        QCOMPARE(store.reader().run("a")->attempt, 1);
        store.ingest("a", {started(2, 0, 0)});
        QCOMPARE(store.reader().run("a")->attempt, 2);
        QCOMPARE(store.reader().points("a", {"train/loss", 2}).size(), size_t(1));
        QCOMPARE(store.reader().ranks("a").back().rank, 2);
    }

    void aCopyIsKnownThoughNobodyToldOfItsOriginal() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        store.ingest("a", {started(1, 0, 0)});
        CheckpointCopied copied{100, 5, "/c/step-000000100", "/b/step-000000100", {},
                                1,   7, "every 100"};
        store.ingest("a", {copied}, 1);
        auto there = store.reader().checkpoints("a");
        QCOMPARE(there.size(), size_t(1));
        QCOMPARE(there[0].saved.bytes, int64_t(7));
        QCOMPARE(there[0].node, std::string("node-a"));
        QVERIFY((there[0].copies == std::vector<CheckpointCopy>{{"node-b", copied.folder, 5}}));
        // What rank 0 tells counts, and the copy stays known when the original is removed.
        CheckpointSaved saved;
        saved.step = 100;
        saved.path = copied.path;
        saved.bytes = 8;
        store.ingest("a", {saved, CheckpointRemoved{100, 6, copied.path}});
        there = store.reader().checkpoints("a");
        QCOMPARE(there[0].saved.bytes, int64_t(8));
        QVERIFY(there[0].removed && there[0].copies.size() == 1);
        CheckpointCopied next{200, 9, "/c/step-000000200", "/b/step-000000200", {copied.folder},
                              1,   7, "every 100"};
        store.ingest("a", {next}, 1);
        for (const StoredCheckpoint& each : store.reader().checkpoints("a"))
            QCOMPARE(each.copies.size(), size_t(each.saved.step == 200 ? 1 : 0));
    }

    void aCopyIsToldOfBeforeTheAttemptThatSavedIt() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        store.ingest("a", {started(1, 0, 0)});
        // Agents began attempt 2 while nobody looked, and the files of node-b come first.
        const CheckpointCopied copied{100, 5,          "/c/step-000000100-attempt-2", "/b/x", {}, 2,
                                      7,   "every 100"};
        auto batch = StoreFixture::batch("a", {started(2, 2, 0, 4), copied}, 1);
        batch.attempts = {2, 2};
        StoreFixture::mustBeOk(store.writer().ingest(batch));
        store.ingest("a", {started(2, 0, 0)});
        QCOMPARE(store.reader().checkpoints("a").size(), size_t(1));
    }

    void aCopyIsForgottenWhenItsNodeRemovesIt() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        store.ingest("a", {started(1, 0, 0)});
        CheckpointSaved saved;
        saved.step = 100;
        saved.path = "/a/step-000000100";
        store.ingest("a", {saved});
        // By a node that is new in the second attempt, of a checkpoint of the first.
        StoreFixture::mustBeOk(store.writer().beginAttempt(
            "a", {2, 100, saved.path, {{0, "node-a", 2, 0}, {2, "node-c", 2, 2}}}));
        const CheckpointCopied copied{100, 5, saved.path, "/c/step-000000100", {}, 1, 7, "every"};
        auto batch = StoreFixture::batch("a", {started(2, 2, 100, 4), copied}, 2);
        batch.attempts = {2, 2};
        StoreFixture::mustBeOk(store.writer().ingest(batch));
        QCOMPARE(store.reader().checkpoints("a")[0].copies.size(), size_t(1));
        // That node is rank 0's in the third attempt, and its retention removes what lies there.
        StoreFixture::mustBeOk(
            store.writer().beginAttempt("a", {3, 100, saved.path, {{2, "node-c", 2, 0}}}));
        batch = StoreFixture::batch(
            "a", {started(3, 0, 100), CheckpointRemoved{100, 9, copied.folder}}, 2);
        batch.attempts = {3, 3};
        StoreFixture::mustBeOk(store.writer().ingest(batch));
        const auto there = store.reader().checkpoints("a");
        QCOMPARE(there.size(), size_t(1));
        QVERIFY(there[0].copies.empty() && !there[0].removed);
    }

    void aNodeIsDeclaredLostUntilItIsEndedOrTakesPartAgain() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        store.createRun("b", "other", 2);
        const DeclaredLostNode first{"a", "node-a"}, second{"b", "node-b"};
        for (const DeclaredLostNode& node : {first, second})
            StoreFixture::mustBeOk(store.writer().setDeclaredLost(node));
        QVERIFY((store.reader().declaredLost() == std::vector{first, second}));
        QVERIFY((store.reader().declaredLost("b") == std::vector{second}));
        const auto begin = [&](int attempt, const std::string& node) {
            StoreFixture::mustBeOk(
                store.writer().beginAttempt("a", {attempt, 0, "", {{0, node, 2, 0}}}));
        };
        begin(2, "node-b");
        QCOMPARE(store.reader().declaredLost("a").size(), size_t(1));
        QVERIFY(store.reader().mustSkipAttempts("a"));
        begin(3, "node-a");
        QVERIFY(store.reader().declaredLost("a").empty());
        QVERIFY(!store.reader().mustSkipAttempts("a"));
        // What lived there is no more, but it may have used numbers.
        StoreFixture::mustBeOk(store.writer().setDeclaredLostEnded(second));
        QVERIFY(store.reader().declaredLost().empty());
        QVERIFY(store.reader().mustSkipAttempts("b"));
        StoreFixture::mustBeOk(
            store.writer().beginAttempt("b", {1002, 0, "", {{0, "node-c", 2, 0}}, 1000}));
        QVERIFY(!store.reader().mustSkipAttempts("b"));
        QCOMPARE(store.reader().newestAttempt("a"), 3);
    }

    void runFollowsItsRanks() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        StoreFixture::mustBeOk(store.writer().beginAttempt(
            "a", {1, 0, "", {{0, "node-a", 2, 0}, {1, "node-b", 2, 2}}}));
        store.ingest("a", {started(1, 2, 0)}, 1);
        QCOMPARE(state(store), RunStateKind::kPreparing);
        store.ingest("a", {started(1, 0, 0)});
        QCOMPARE(state(store), RunStateKind::kRunning);
        store.ingest("a", {ended(1, Outcome::kPaused)});
        QCOMPARE(state(store), RunStateKind::kRunning);
        QVERIFY(!store.reader().attempts("a")[0].ended);
        store.ingest("a", {ended(1, Outcome::kPaused)}, 1);
        QCOMPARE(state(store), RunStateKind::kPaused);
        QCOMPARE(store.reader().attempts("a")[0].ended->outcome, Outcome::kPaused);
        QCOMPARE(store.reader().run("a")->message, QString());
    }

    void ordersOfNodesDoNotMatter() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        store.ingest("a", {RankStarted{1, 0, 77, 1}, ended(1, Outcome::kFinished)});
        store.ingest("a", {ended(1, Outcome::kFinished), started(1, 2, 0)}, 1);
        QCOMPARE(state(store), RunStateKind::kFinished);
        store.ingest("a", {started(1, 0, 0), lossAt(1, 1)});
        QCOMPARE(state(store), RunStateKind::kFinished);
    }

    void staleEndDoesNotTouchTheNextAttempt() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0)});
        StoreFixture::mustBeOk(store.writer().beginAttempt("a", {2, 0, "", {{0, "node-a", 2, 0}}}));
        store.ingest("a", {ended(1, Outcome::kFailed, 0, 1)});
        QCOMPARE(state(store), RunStateKind::kPreparing);
        store.ingest("a", {started(2, 0, 0)});
        QCOMPARE(state(store), RunStateKind::kRunning);
        store.ingest("a", {ended(1, Outcome::kFailed, 0, 1)});
        QCOMPARE(state(store), RunStateKind::kRunning);
        QCOMPARE(store.reader().run("a")->attempt, 2);
        QCOMPARE(store.reader().attempts("a")[0].ended->outcome, Outcome::kFailed);
        QVERIFY(!store.reader().attempts("a")[1].ended);
    }

    void wholeHistoryInOneBatchEndsWhereItEnded() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0), ended(1, Outcome::kFailed, 0, 1), started(2, 0, 5),
                           ended(2, Outcome::kFinished)});
        QCOMPARE(state(store), RunStateKind::kFinished);
        QCOMPARE(store.reader().attempts("a").size(), size_t(2));
    }

    void heldFollowsTheCommandsOfTheAttempt() {
        StoreFixture store;
        store.createRun("a");
        const auto command = [](const char* kind, int64_t step, bool ok = true) {
            return CommandApplied{kind + std::to_string(step), kind, step, step, ok, ""};
        };
        const auto held = [&store] { return store.reader().run("a")->held; };
        store.ingest("a", {started(1, 0, 0), command("checkpoint", 1)});
        QVERIFY(!held());
        store.ingest("a", {command("hold", 2)});
        QVERIFY(held());
        QCOMPARE(runStateName(*store.reader().run("a")), "held");
        store.ingest("a", {command("continue", 3, false), command("set", 4)});
        QVERIFY(held());
        store.ingest("a", {command("continue", 5)});
        QVERIFY(!held());
        store.ingest("a", {command("step", 6)});
        QVERIFY(held());
        store.ingest("a", {ended(1, Outcome::kPaused)});
        QVERIFY(!held());
        store.ingest("a", {started(2, 0, 6)});
        QCOMPARE(state(store), RunStateKind::kRunning);
        QVERIFY(!held());
    }

    void peersLostToAStopDidNotFail_data() {
        QTest::addColumn<int>("outcome");
        QTest::addColumn<int>("state");
        QTest::newRow("killed") << static_cast<int>(Outcome::kStopped)
                                << static_cast<int>(RunStateKind::kStopped);
        QTest::newRow("preempted")
            << static_cast<int>(Outcome::kPreempted) << static_cast<int>(RunStateKind::kPreempted);
        QTest::newRow("paused") << static_cast<int>(Outcome::kPaused)
                                << static_cast<int>(RunStateKind::kPaused);
        QTest::newRow("finished") << static_cast<int>(Outcome::kFinished)
                                  << static_cast<int>(RunStateKind::kFailed);
    }
    void peersLostToAStopDidNotFail() {
        QFETCH(int, outcome);
        QFETCH(int, state);
        StoreFixture store;
        store.createRun("a", "run", 2);
        store.ingest("a",
                     {started(1, 2, 0), exited(1, 2, kPeerLost, 0, 400, "exited: peer lost"),
                      ended(1, Outcome::kFailed, 2, kPeerLost)},
                     1);
        store.ingest("a", {started(1, 0, 0), ended(1, static_cast<Outcome>(outcome))});
        const RunSummary run = *store.reader().run("a");
        QCOMPARE(static_cast<int>(run.state), state);
        QCOMPARE(run.message, run.state == RunStateKind::kFailed
                                  ? "rank 2 on node-b: exited: peer lost"
                              : run.state == RunStateKind::kPaused ? ""
                                                                   : "the agent's words");
    }

    /// Rank 0's machine was restarted while a pause waited for it. Another node tells first how it
    /// ended for the time being, and then that it is over.
    void aPauseAfterAFailureIsAPauseThatNamesTheFailureWhoeverTellsFirst_data() {
        QTest::addColumn<QString>(
            "order"); ///< each digit is a node, which has told all by its last
        for (const char* order : {"0 1 1", "1 0 1", "1 1 0"})
            QTest::newRow(order) << QString(order);
    }
    void aPauseAfterAFailureIsAPauseThatNamesTheFailureWhoeverTellsFirst() {
        QFETCH(QString, order);
        StoreFixture store;
        store.createRun("a", "run", 2);
        store.ingest("a", {RankStarted{1, 0, 70, 1}, started(1, 0, 0), lossAt(40, 1),
                           exited(1, 0, 1, 0, 400, "gone without a last word")});
        store.ingest("a",
                     {RankStarted{1, 2, 72, 1}, started(1, 2, 0),
                      exited(1, 2, kPeerLost, 0, 300, "exited: peer lost")},
                     1);
        AttemptEnded waits = ended(1, Outcome::kFailed, 2, kPeerLost);
        waits.resumes = true;
        const AttemptEnded first = ended(1, Outcome::kFailed, 0, 1);
        std::vector<AttemptEnded> other = {waits, endedOnRequest(waits, Outcome::kPaused, "ended")};
        other.back().resumes = false;
        bool isFirstTold = false;
        for (const QString& node : order.split(' ')) {
            if (node == "0") {
                store.ingest("a", {endedOnRequest(first, Outcome::kPaused, "ended on request")});
                isFirstTold = true;
            } else {
                store.ingest("a", {other.front()}, 1);
                other.erase(other.begin());
            }
            if (isFirstTold && other.size() < 2) {
                const RunSummary run = *store.reader().run("a");
                QCOMPARE(run.state, RunStateKind::kPaused);
                QCOMPARE(run.message, "ended on request; rank 0 on node-a: gone without a last "
                                      "word at step 40");
                const auto stored = *store.reader().attempts("a")[0].ended;
                QCOMPARE(stored.outcome, Outcome::kPaused);
                QCOMPARE(stored.firstFailedRank, 0);
            }
        }
    }

    /// The node of rank 0 had failed for the time being only by what it heard of another.
    void aLaterWordOfANodeCorrectsWhatAllHadTold() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        AttemptEnded waits = ended(1, Outcome::kFailed, 2, 1);
        waits.resumes = true;
        store.ingest("a", {started(1, 0, 0), ended(1, Outcome::kStopped)});
        store.ingest("a", {waits}, 1);
        QCOMPARE(state(store), RunStateKind::kFailed);
        store.ingest("a", {ended(1, Outcome::kStopped)}, 1);
        QCOMPARE(state(store), RunStateKind::kStopped);
        QCOMPARE(store.reader().attempts("a")[0].ended->outcome, Outcome::kStopped);
    }

    void aKillAfterAFailureIsAKill() {
        StoreFixture store;
        store.createRun("a");
        const AttemptEnded failed = ended(1, Outcome::kFailed, 0, 137);
        store.ingest("a", {RankStarted{1, 0, 70, 1}, started(1, 0, 0), lossAt(3, 1),
                           exited(1, 0, 137, 9, 500, "killed by SIGKILL"),
                           endedOnRequest(failed, Outcome::kStopped, kKilledMessage)});
        const RunSummary run = *store.reader().run("a");
        QVERIFY(wasKilled(run));
        QVERIFY2(run.message.contains("rank 0 on node-a: killed by SIGKILL"),
                 qPrintable(run.message));
    }

    void firstFailureIsNamedNotItsConsequences() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        store.ingest("a", {RankStarted{1, 0, 70, 1}, started(1, 0, 0), lossAt(119, 1),
                           exited(1, 0, kPeerLost, 0, 500, "exited: peer lost"),
                           ended(1, Outcome::kFailed, 0, kPeerLost)});
        store.ingest("a",
                     {RankStarted{1, 3, 73, 1}, started(1, 3, 0), lossAt(120, 1, 3),
                      exited(1, 3, 0, 9, 700, "killed by SIGKILL"),
                      ended(1, Outcome::kFailed, 3, 0)},
                     1);
        const RunSummary run = *store.reader().run("a");
        QCOMPARE(run.state, RunStateKind::kFailed);
        QCOMPARE(run.message, "rank 3 on node-b: killed by SIGKILL at step 120");
        const auto ranks = store.reader().ranks("a");
        QCOMPARE(ranks.size(), size_t(2));
        QCOMPARE(ranks[1].rank, 3);
        QCOMPARE(ranks[1].nodeIndex, 1);
        QCOMPARE(ranks[1].pid, int64_t(73));
        QCOMPARE(ranks[1].step, int64_t(120));
        QCOMPARE(ranks[1].exited->tail, std::string("last lines"));
        QCOMPARE(store.reader().attempts("a")[0].ended->firstFailedRank, 3);
    }

    void failureIsToldInTheRanksOwnWords() {
        StoreFixture store;
        store.createRun("a");
        const std::string tail =
            "step 3/10\nerror: an older one\nerror: train: out of memory\n  at";
        store.ingest("a", {RankStarted{1, 0, 70, 1}, started(1, 0, 0), lossAt(3, 1),
                           RankExited{1, 0, 8, 0, 500, "exited: out of space", tail},
                           ended(1, Outcome::kFailed, 0, 8)});
        QCOMPARE(store.reader().run("a")->message,
                 "rank 0 on node-a at step 3: train: out of memory");
    }

    void whatEndedByASignalIsNotToldInOlderWords() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {RankStarted{1, 0, 70, 1}, started(1, 0, 0), lossAt(3, 1),
                           RankExited{1, 0, 137, 9, 500, "killed by SIGKILL", "error: a warning"},
                           ended(1, Outcome::kFailed, 0, 137)});
        QCOMPARE(store.reader().run("a")->message, "rank 0 on node-a: killed by SIGKILL at step 3");
    }

    void failureWithoutRankNamesTheNode() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {ended(1, Outcome::kFailed)});
        QCOMPARE(store.reader().run("a")->message, "node-a: the agent's words");
    }

    void engineMayEndAnAttemptItself() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0)});
        StoreFixture::mustBeOk(store.writer().setState("a", RunStateKind::kFailed, "node lost"));
        store.ingest("a", {lossAt(1, 1), ended(1, Outcome::kStopped)});
        QCOMPARE(state(store), RunStateKind::kFailed);
        QCOMPARE(store.reader().run("a")->message, "node lost");
    }

    void bestValidationIsOfWhatCounts() {
        StoreFixture store;
        store.createRun("a");
        const auto validation = [](int64_t step, float value) {
            return Samples{0, step, step, {metric::kValidationLoss}, {value}};
        };
        store.ingest("a",
                     {started(1, 0, 0), validation(10, 3), validation(20, 1), validation(30, NAN)});
        QCOMPARE(*store.reader().run("a")->validationLoss, 1.0);
        store.ingest("a", {started(2, 0, 10), validation(20, 2)});
        QCOMPARE(*store.reader().run("a")->validationLoss, 2.0);
    }

    void sameCommandCountsOnce() {
        StoreFixture store;
        store.createRun("a");
        const CommandApplied hold{"id-1", "hold", 7, 5, true, "held"};
        const CommandApplied refused{"id-2", "set", 9, 6, false, "lr: not a number"};
        store.ingest("a", {started(1, 0, 0), hold, hold, refused});
        store.ingest("a", {hold});
        const auto commands = store.reader().commands("a");
        QCOMPARE(commands.size(), size_t(2));
        QCOMPARE(commands[0].applied, hold);
        QCOMPARE(commands[1].applied, refused);
    }

    void checkpointsKnowWhatIsGone() {
        StoreFixture store;
        store.createRun("a");
        CheckpointSaved first{100, 1, "/c/step-000000100", 10, 1.5, "every 100", NAN, false};
        CheckpointSaved second{200, 2, "/c/step-000000200", 10, 1.5, "end", 2.25, true};
        store.ingest("a", {started(1, 0, 0), first, second, CheckpointRemoved{100, 3, first.path}});
        auto checkpoints = store.reader().checkpoints("a");
        QCOMPARE(checkpoints.size(), size_t(2));
        QCOMPARE(checkpoints[0].saved, second);
        QCOMPARE(checkpoints[1].saved, first);
        QVERIFY(checkpoints[1].removed && !checkpoints[0].removed);
        // Written anew by the next attempt: there again.
        store.ingest("a", {started(2, 0, 0), first});
        checkpoints = store.reader().checkpoints("a");
        QCOMPARE(checkpoints.size(), size_t(2));
        QVERIFY(!checkpoints[1].removed);
        QCOMPARE(checkpoints[1].attempt, 2);
    }

    void retiredCheckpointIsNeverBest() {
        StoreFixture store;
        store.createRun("a");
        const auto saved = [](int64_t step, double loss, bool best) {
            return CheckpointSaved{step, step, "/c/" + std::to_string(step), 1, 1, "every 20",
                                   loss, best};
        };
        store.ingest("a", {started(1, 0, 0), saved(40, 3, true), saved(60, 2, true),
                           saved(76, 1, true), started(2, 0, 60), saved(80, 2.5, false)});
        const auto checkpoints = store.reader().checkpoints("a");
        QCOMPARE(checkpoints.size(), size_t(4));
        for (const StoredCheckpoint& each : checkpoints) {
            QCOMPARE(each.retiredBy, each.saved.step == 76 ? 2 : 0);
            QCOMPARE(each.isBest, each.saved.step == 60);
        }
        // Gone from the disk: the best of those that are left.
        store.ingest("a", {CheckpointRemoved{60, 1, "/c/60"}});
        for (const StoredCheckpoint& each : store.reader().checkpoints("a"))
            QCOMPARE(each.isBest, each.saved.step == 40);
    }

    void retirementIsToldBefore() {
        StoreFixture store;
        store.createRun("a");
        const auto saved = [](int64_t step, int attempt) {
            return CheckpointSaved{
                step, step, "/c/" + std::to_string(step) + "-" + std::to_string(attempt),
                1,    1,    "every 20",
                NAN,  false};
        };
        AttemptStarted second = started(2, 0, 60);
        second.startFrom = saved(60, 1).path;
        store.ingest("a", {started(1, 0, 0), saved(40, 1), saved(60, 1), saved(76, 1), second,
                           saved(80, 2), lossAt(85, 1)});
        const auto checkpoints = store.reader().checkpoints("a"); // 80, 76, 60, 40
        const auto reported = [&](size_t row) {
            return store.reader().retirementBy("a", checkpoints[row]);
        };
        QCOMPARE(reported(0), (Retirement{81, 85, 0}));
        QCOMPARE(reported(1), (Retirement{61, 85, 1})); // 76 lives again, 80 does not
        QCOMPARE(reported(2), (Retirement{61, 85, 1}));
        QCOMPARE(reported(3), (Retirement{41, 85, 2}));
        store.ingest("a", {CheckpointRemoved{80, 1, saved(80, 2).path}});
        QCOMPARE(reported(3), (Retirement{41, 85, 1}));
    }

    void aDamagedCheckpointIsRetiredAndNamedDamaged() {
        StoreFixture store;
        store.createRun("a");
        const auto saved = [](int64_t step) {
            return CheckpointSaved{step, step, "/c/" + std::to_string(step), 1, 1, "every 20",
                                   NAN,  true};
        };
        store.ingest("a", {started(1, 0, 0), saved(40), saved(60), saved(80), lossAt(85, 1)});
        // What the app asked for is not what came about.
        StoreFixture::mustBeOk(
            store.writer().beginAttempt("a", {2, 80, saved(80).path, {{0, "node-a", 1, 0}}}));
        AttemptStarted second = started(2, 0, 40);
        second.startFrom = saved(40).path;
        const auto damaged = [](int64_t step) {
            return Event{0, step, 1, Severity::kWarning, "checkpoint-damaged", "it is damaged"};
        };
        store.ingest("a", {second, damaged(80), damaged(60)});
        const auto checkpoints = store.reader().checkpoints("a"); // 80, 60, 40
        QCOMPARE(checkpoints.size(), size_t(3));
        for (const StoredCheckpoint& each : checkpoints) {
            const bool isWhole = each.saved.step == 40;
            QCOMPARE(each.isDamaged, !isWhole);
            QCOMPARE(each.retiredBy, isWhole ? 0 : 2);
            QCOMPARE(each.isBest, isWhole);
        }
        QCOMPARE(store.reader().attempts("a").back().startStep, 40);
        QCOMPARE(store.reader().lines("a").front().lastStep, 40);
    }

    void branchTellsItsParent() {
        StoreFixture store;
        store.createRun("p", "gpt-tiny");
        StoreFixture::mustBeOk(
            store.writer().createRun({"b", "child", "", {{0, "node-a", 1, 0}}, "p", 401}));
        QCOMPARE(store.reader().run("b")->parentName, "gpt-tiny");
        const auto events = store.reader().events("b");
        QCOMPARE(events.size(), size_t(1));
        QCOMPARE(events[0].event.message, std::string("branched from gpt-tiny at 401"));
        QCOMPARE(events[0].event.step, int64_t(401));
        QVERIFY(store.reader().events("p").empty());
    }

    void eventsAndTextsComeNewestFirst() {
        StoreFixture store;
        store.createRun("a");
        const Event one{-1, -1, 1, Severity::kInfo, "node-joined", "hello"};
        const Event two{1, 5, 2, Severity::kError, "data-skipped", "\xff\x01'; --"};
        store.ingest(
            "a", {one, two, SampleText{10, 1, "p", "first"}, SampleText{20, 2, "p", "second"}}, 0);
        const auto events = store.reader().events("a");
        QCOMPARE(events.size(), size_t(2));
        QCOMPARE(events[0].event, two);
        QCOMPARE(events[1].event, one);
        QCOMPARE(store.reader().events("a", 1).size(), size_t(1));
        QCOMPARE(store.reader().samples("a")[0].sample.text, std::string("second"));
    }

    void textsOfAStepStayTogetherInTheirOrder() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a",
                     {SampleText{10, 1, "s: 1\n", "t: eins"},
                      SampleText{10, 2, "s: 2\n", "t: zwei"},
                      SampleText{20, 3, "You may", " copy"}},
                     0);
        const std::vector<StepSample> expected{
            {20, 3, "You may copy", 1, 0, {SampleText{20, 3, "You may", " copy"}}},
            {10,
             2,
             "s: 1\nt: eins\n\ns: 2\nt: zwei",
             1,
             0,
             {SampleText{10, 1, "s: 1\n", "t: eins"}, SampleText{10, 2, "s: 2\n", "t: zwei"}}}};
        QCOMPARE(samplesByStep(store.reader().samples("a")), expected);
        QVERIFY(samplesByStep({}).empty());
    }

    void textsOfAbandonedLinesSaySo() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0), SampleText{40, 1, "", "forty"},
                           SampleText{50, 2, "", "fifty"}, ended(1, Outcome::kFailed)});
        store.ingest("a", {started(2, 0, 45), SampleText{50, 3, "", "again"}});
        const auto samples = samplesByStep(store.reader().samples("a"));
        const std::vector<StepSample> expected{
            {50, 3, "again", 2, 0, {SampleText{50, 3, "", "again"}}},
            {50, 2, "fifty", 1, 2, {SampleText{50, 2, "", "fifty"}}},
            {40, 1, "forty", 1, 0, {SampleText{40, 1, "", "forty"}}}};
        QCOMPARE(samples, expected);
    }

    void translationsAndPicturesComeBackWhole() {
        StoreFixture store;
        store.createRun("a");
        SampleText translation{10, 1, "Good morning", "Guten Tag"};
        translation.kind = SampleKind::kTranslation;
        translation.reference = "Guten Morgen";
        translation.score = 61.5f;
        SampleText picture{20, 2, "cat/1.jpg", "dog"};
        picture.kind = SampleKind::kPicture;
        picture.reference = "cat";
        picture.score = 0.75f;
        picture.picture = {std::byte{0xff}, std::byte{0}, std::byte{0xd8}};
        store.ingest("a", {translation, picture}, 0);
        const auto translations = store.reader().samplesAt("a", 1, 10);
        QCOMPARE(translations, std::vector{translation});
        QCOMPARE(store.reader().samplesAt("a", 1, 20), std::vector{picture});
        QVERIFY(store.reader().samplesAt("a", 2, 20).empty());
        const auto steps = samplesByStep(store.reader().samples("a"));
        QCOMPARE(steps[0].text, std::string("cat/1.jpg: cat, taken for dog"));
        QVERIFY(steps[0].parts[0].picture.empty());
        QCOMPARE(steps[1].text, std::string("source: Good morning\ntranslation: Guten Tag\n"
                                            "reference: Guten Morgen"));
    }

    void confusionMatricesSayWhichLineTheyAreOf() {
        StoreFixture store;
        store.createRun("a");
        const ConfusionMatrix first{40, 1, 2, {"cat", "dog"}, {7, 1, 2, 9}};
        const ConfusionMatrix lost{50, 2, 2, {"cat", "dog"}, {8, 0, 0, 11}};
        const ConfusionMatrix again{50, 3, 1000, {"cat"}, {7, 1, 2, 900}};
        store.ingest("a", {started(1, 0, 0), first, lost, ended(1, Outcome::kFailed)});
        store.ingest("a", {started(2, 0, 45), again});
        const auto found = store.reader().confusions("a");
        QCOMPARE(found.size(), size_t{3});
        QCOMPARE(found[0].matrix, again);
        QCOMPARE(found[1].matrix, lost);
        QCOMPARE(found[1].retiredBy, 2);
        QCOMPARE(found[2].matrix, first);
        QCOMPARE(found[2].retiredBy, 0);
        QVERIFY(store.reader().confusions("b").empty());
    }

    void aDamagedConfusionMatrixIsToldAndTheOthersAreRead() {
        StoreFixture store;
        store.createRun("a");
        const ConfusionMatrix first{40, 1, 2, {"cat", "dog"}, {7, 1, 2, 9}};
        const ConfusionMatrix damaged{50, 2, 2, {"cat", "dog"}, {8, 0, 0, 11}};
        store.ingest("a", {started(1, 0, 0), first, damaged});
        SQLite::Database(store.path().toStdString(), SQLite::OPEN_READWRITE)
            .exec("UPDATE confusion SET counts = x'0102' WHERE step = 50");
        const auto found = store.reader().confusions("a");
        QCOMPARE(found.size(), size_t{1});
        QCOMPARE(found[0].matrix, first);
        QVERIFY(store.reader().failure());
        QCOMPARE(store.reader().failure()->code, ErrorCode::kCorrupt);
    }

    void idPrefixOrNewestNameFindsARun() {
        StoreFixture store;
        store.createRun("abc-1", "gpt");
        store.createRun("abd-2", "gpt");
        store.createRun("xyz-3", "ab");
        QCOMPARE(store.reader().resolve("abc-1")->id, "abc-1");
        QCOMPARE(store.reader().resolve("abc")->id, "abc-1");
        QCOMPARE(store.reader().resolve("x")->id, "xyz-3");
        QCOMPARE(store.reader().resolve("gpt")->id, "abd-2");
        QCOMPARE(store.reader().resolve("ab")->id, "xyz-3");
        const auto ambiguous = store.reader().resolve("a");
        QCOMPARE(ambiguous.error().code, ErrorCode::kInvalid);
        QVERIFY(ambiguous.error().message.find("abd-2, abc-1") != std::string::npos);
        QCOMPARE(store.reader().resolve("nope").error().code, ErrorCode::kNotFound);
        QCOMPARE(store.reader().resolve("").error().code, ErrorCode::kInvalid);
        QCOMPARE(store.reader().resolve("%").error().code, ErrorCode::kNotFound);
    }

    void aRunIsNotTakenForAPurgedOneOfTheSameNumber() {
        StoreFixture store;
        store.createRun("old", "the same");
        StoreFixture::mustBeOk(store.writer().setState("old", RunStateKind::kFailed));
        StoreFixture::mustBeOk(store.writer().setDeleted("old", true));
        QCOMPARE(store.reader().trash().front().id, QString("old")); // the reader knows it now
        QCOMPARE(*store.writer().purgeDeleted(wallNowNs() + 1), 1);
        store.createRun("new", "the same");
        StoreFixture::mustBeOk(store.writer().setState("new", RunStateKind::kFailed));
        StoreFixture::mustBeOk(store.writer().setNotes("new", "as many changes as the old one"));
        QCOMPARE(store.reader().run("new")->id, QString("new"));
    }

    void trashGivesBackUntilItIsEmptied() {
        StoreFixture store;
        store.createRun("a", "run a");
        store.createRun("b");
        store.ingest("a", {started(1, 0, 0), lossAt(1, 1)});
        StoreFixture::mustBeOk(store.writer().setDeleted("a", true));
        QCOMPARE(store.reader().runs().size(), size_t(1));
        QCOMPARE(store.reader().trash().size(), size_t(1));
        QVERIFY(store.reader().trash()[0].deletedNs > 0);
        QVERIFY(store.reader().resolve("run a").error().message.ends_with(
            "it is in the trash; bring it back first: ringmaster trash restore a"));
        const int64_t deletedNs = store.reader().trash()[0].deletedNs;
        StoreFixture::mustBeOk(store.writer().setDeleted("a", true));
        QCOMPARE(store.reader().trash()[0].deletedNs, deletedNs);
        QCOMPARE(store.reader().resolveDeleted("run a")->id, "a");
        QCOMPARE(store.reader().resolveDeleted("a")->id, "a");
        QCOMPARE(store.reader().resolveDeleted("b").error().code, ErrorCode::kNotFound);
        StoreFixture::mustBeOk(store.writer().setDeleted("a", false));
        QCOMPARE(store.reader().runs().size(), size_t(2));
        QCOMPARE(store.reader().points("a", {"train/loss", 0}).size(), size_t(1));
        StoreFixture::mustBeOk(store.writer().setDeleted("a", true));
        QCOMPARE(*store.writer().purgeDeleted(wallNowNs() + 1), 0); // it trains
        StoreFixture::mustBeOk(store.writer().setState("a", RunStateKind::kPaused));
        QCOMPARE(*store.writer().purgeDeleted(1), 0);
        QCOMPARE(*store.writer().purgeDeleted(wallNowNs() + 1), 1);
        QVERIFY(store.reader().trash().empty());
        QCOMPARE(store.reader().runs().size(), size_t(1));
        QVERIFY(store.reader().points("a", {"train/loss", 0}).empty());
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0), lossAt(7, 1)});
        QCOMPARE(store.reader().points("a", {"train/loss", 0}).size(), size_t(1));
    }

    void bytesThatComeAgainAreRefused() {
        StoreFixture store;
        store.createRun("a");
        IngestBatch batch = StoreFixture::batch("a", {started(1, 0, 0), lossAt(1, 1)});
        batch.previous = {{"journal/rank-00000.rmj", 0}};
        batch.cursors = {{"journal/rank-00000.rmj", 100}};
        StoreFixture::mustBeOk(store.writer().ingest(batch));
        QCOMPARE(store.writer().ingest(batch).error().code, ErrorCode::kInternal);
        batch.previous.clear();
        QCOMPARE(store.writer().ingest(batch).error().code, ErrorCode::kInternal);
        batch.cursors[0].second = 50;
        QCOMPARE(store.writer().ingest(batch).error().code, ErrorCode::kInternal);
        batch.cursors[0].second = 200;
        batch.previous = {{"journal/rank-00000.rmj", 150}};
        QCOMPARE(store.writer().ingest(batch).error().code, ErrorCode::kInternal);
        QCOMPARE(store.reader().points("a", {"train/loss", 0}).size(), size_t(1));
        const std::vector<std::pair<std::string, uint64_t>> cursors{
            {"journal/rank-00000.rmj", 100}};
        QVERIFY(store.reader().cursors("a", 0) == cursors);
        QVERIFY(store.reader().cursors("a", 1).empty());
        QCOMPARE(store.writer().ingest(StoreFixture::batch("zz", {})).error().code,
                 ErrorCode::kNotFound);
    }

    void damagedFileIsReportedOnce() {
        StoreFixture store;
        store.createRun("a");
        const Event damage{0, -1, 1, Severity::kError, "journal-damaged", "journal/x at 512"};
        store.ingest("a", {damage});
        store.ingest("a", {damage});
        QCOMPARE(store.reader().events("a").size(), size_t(1));
    }

    void nodeIsLostUntilItIsBack() {
        const auto lost = [](int64_t wallNs) {
            return Event{-1, -1, wallNs, Severity::kWarning, kNodeLostEvent, "no answer"};
        };
        const Event back{-1, -1, 9, Severity::kInfo, kNodeBackEvent, "back"};
        StoreFixture store;
        store.createRun("a", "run", 2);
        store.ingest("a", {started(1, 0, 0)}, 0);
        QVERIFY(store.reader().run("a")->lostNodes.empty());
        store.ingest("a", {lost(5)}, 0);
        store.ingest("a", {lost(7)}, 1);
        QCOMPARE(store.reader().run("a")->lostNodes,
                 (std::vector<LostNode>{{"node-a", 5, "no answer"}, {"node-b", 7, "no answer"}}));
        store.ingest("a", {back}, 0);
        QCOMPARE(store.reader().run("a")->lostNodes,
                 (std::vector<LostNode>{{"node-b", 7, "no answer"}}));
        StoreFixture::mustBeOk(store.writer().setState("a", RunStateKind::kStopped));
        QVERIFY(store.reader().run("a")->lostNodes.empty());
    }

    void logIsReadFromTheEndOrOnwards() {
        StoreFixture store;
        store.createRun("a");
        IngestBatch batch = StoreFixture::batch("a", {});
        for (int i = 0; i < 100; ++i)
            batch.logLines.push_back({i % 2, "line " + std::to_string(i) + " 100%_done"});
        StoreFixture::mustBeOk(store.writer().ingest(batch));
        auto lines = store.reader().log("a", -1, 0, 10);
        QCOMPARE(lines.size(), size_t(10));
        QCOMPARE(lines.front().text, std::string("line 90 100%_done"));
        QCOMPARE(lines.back().text, std::string("line 99 100%_done"));
        lines = store.reader().log("a", 1, lines.front().id, 3);
        QCOMPARE(lines.size(), size_t(3));
        QCOMPARE(lines.front().text, std::string("line 91 100%_done"));
        QCOMPARE(lines.back().text, std::string("line 95 100%_done"));
        QCOMPARE(store.reader().log("a", -1, 0, 10, "LINE 42").size(), size_t(1));
        QCOMPARE(store.reader().log("a", -1, 0, 1000, "0%_d").size(), size_t(100));
        QVERIFY(store.reader().log("a", -1, 0, 1000, "0_d").empty());
        QVERIFY(store.reader().log("a", -1, 0, 1000, "\\").empty());
        QVERIFY(store.reader().log("b", -1, 0, 1000).empty());
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestStoreRuns)
#include "tst_store_runs.moc"
