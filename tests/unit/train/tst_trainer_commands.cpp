// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "tests/unit/train/rank_ends.h"
#include "tests/unit/train/trainer_run.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QObject>
#include <QTest>

#include <csignal>

using namespace rm;
using namespace rm::test;

namespace {

Command command(const char* id, CommandKind kind) {
    return {id, kind, {}};
}

/// A run that would go on for minutes.
RunSpec endlessSpec() {
    RunSpec spec = tinySpec();
    spec.train.steps = 1000000;
    return spec;
}

/// Whether the set of signals `name` ("SigBlk", ...) in the kernel's status of a thread has one.
bool hasSignal(const QString& statusPath, const QByteArray& name, int signal) {
    QFile file(statusPath);
    if (!file.open(QIODevice::ReadOnly))
        return false;
    for (const QByteArray& line : file.readAll().split('\n'))
        if (line.startsWith(name + ':'))
            return (line.mid(name.size() + 1).trimmed().toULongLong(nullptr, 16) >> (signal - 1)) &
                   1U;
    return false;
}

} // namespace

/// What rank 0 said of its settings, each time.
using Settings = std::vector<std::vector<SettingsChanged::Setting>>;
static Settings settingsOf(const TrainerRun& run) {
    Settings all;
    for (const auto& changed : run.recordsOf<SettingsChanged>(0))
        all.push_back(changed.settings);
    return all;
}

class TestTrainerCommands : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aRuleSetsTheRateAndSavesWithoutAnybody() {
        RunSpec spec = tinySpec();
        spec.schedule.type = "constant";
        spec.schedule.warmupSteps = 0;
        spec.schedule.minLr = 0.004;
        spec.rules = {"train/loss falls 2 times: lr / 2 and checkpoint",
                      "train/grad_norm below 1e9 12 times: stop"};
        spec.checkpoint.keepLast = 100; // those of a rule go like any other
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), both(ExitCode::kStopped));
        std::vector<CommandApplied> sets, saves, stops;
        for (const auto& applied : run.recordsOf<CommandApplied>(0)) {
            QVERIFY2(applied.ok, applied.message.c_str());
            (applied.kind == "set"    ? sets
             : applied.kind == "stop" ? stops
                                      : saves)
                .push_back(applied);
        }
        QVERIFY(!sets.empty() && !saves.empty());
        QVERIFY2(sets[0].message.find("lr 0.01 -> 0.005, by the rule \"" + spec.rules[0] + "\"") !=
                     std::string::npos,
                 sets[0].message.c_str());
        const auto rates = run.series(1, metric::kTrainLr);
        QCOMPARE(rates.at(sets[0].step), 0.01f);
        QCOMPARE(rates.at(sets[0].step + 1), 0.005f);
        const Settings settings = settingsOf(run);
        QCOMPARE(settings.size(), sets.size() + 1); // at the attempt's begin, too
        QVERIFY(settings.size() >= 3);
        QVERIFY(settings[0].empty());
        QCOMPARE(settings[1].at(0).value, 0.005);
        for (size_t i = 2; i < settings.size(); ++i)
            QCOMPARE(settings[i].at(0).value, 0.004); // schedule.min_lr
        // What a rule was about to do is not a branch's.
        RunSpec branched = spec;
        branched.optimizer.lr = 0.005;
        branched.train.steps = sets[0].step + 2;
        TrainerRun branch;
        branch.useRunId("other-run");
        const QString from = QString::fromStdString(run.checkpoint(sets[0].step));
        QCOMPARE(branch.run(branched, 2, {"--start-from", from}), both(ExitCode::kOk));
        QCOMPARE(branch.series(1, metric::kTrainLr).rbegin()->second, 0.005f);
        const auto manifest = readManifest(run.checkpoint(saves[0].step));
        QVERIFY(manifest);
        QCOMPARE(manifest->reason, std::string("rule"));
        QCOMPARE(stops.size(), size_t(1));
        QCOMPARE(run.lastStep(0), run.lastStep(1));
        std::vector<Event> events;
        for (const Event& event : run.recordsOf<Event>(0))
            if (event.code == "rule")
                events.push_back(event);
        QVERIFY(events.size() >= 2);
        QVERIFY2(events[0].message.find("train/loss fell 2 times, to ") != std::string::npos &&
                     events[0].message.find(spec.rules[0]) != std::string::npos,
                 events[0].message.c_str());
    }

    void aRuleGoesOnFromACheckpoint() {
        RunSpec spec = tinySpec();
        spec.rules = {"train/grad_norm below 1e9 14 times: checkpoint"};
        spec.checkpoint.every = 10;
        TrainerRun whole;
        QCOMPARE(whole.run(spec, 2), (std::vector<int>{0, 0}));
        const auto acts = [](const TrainerRun& run) {
            std::vector<int64_t> steps;
            for (const Event& event : run.recordsOf<Event>(0))
                if (event.code == "rule")
                    steps.push_back(event.step);
            return steps;
        };
        QCOMPARE(acts(whole), std::vector<int64_t>{14});
        TrainerRun resumed;
        QCOMPARE(
            resumed.run(spec, 2, {"--start-from", QString::fromStdString(whole.checkpoint(10))}),
            (std::vector<int>{0, 0}));
        QCOMPARE(acts(resumed), std::vector<int64_t>{14});
    }

    void aRunPausesWhereItsSpecSays() {
        RunSpec spec = tinySpec();
        spec.train.pauseAt = {5, 12, spec.train.steps};
        spec.validation.every = 4;
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), both(ExitCode::kPaused));
        QCOMPARE(run.lastStep(0), int64_t(5));
        QCOMPARE(run.lastStep(1), int64_t(5));
        QVERIFY(run.series(0, metric::kValidationLoss).contains(5));
        const auto manifest = readManifest(run.checkpoint(5));
        QVERIFY(manifest);
        QCOMPARE(manifest->reason, std::string("planned pause"));
        const auto goOn = [&](TrainerRun& next, const std::string& from) {
            return next.run(spec, 2, {"--start-from", QString::fromStdString(from)});
        };
        TrainerRun second, third;
        QCOMPARE(goOn(second, run.checkpoint(5)), both(ExitCode::kPaused));
        QCOMPARE(second.lastStep(0), int64_t(12));
        QCOMPARE(goOn(third, second.checkpoint(12)), both(ExitCode::kOk)); // at its end it ends
        QCOMPARE(third.lastStep(1), spec.train.steps);
    }

    void pauseCheckpointsAndEndsAllRanksAtOneStep() {
        TrainerRun run;
        run.start(endlessSpec(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(1) > 3, 30000);
        QVERIFY(run.post(command("p", CommandKind::kPause)));
        QCOMPARE(run.finish(), both(ExitCode::kPaused));
        const auto applied = run.applied("p");
        QVERIFY(applied && applied->ok);
        QCOMPARE(applied->kind, "pause");
        QCOMPARE(run.lastStep(0), applied->step);
        QCOMPARE(run.lastStep(1), applied->step);
        const auto manifest = verifyCheckpoint(run.checkpoint(applied->step));
        QVERIFY(manifest);
        QCOMPARE(manifest->reason, "pause");
        QCOMPARE(manifest->worldSize, 2);
        QCOMPARE(manifest->runId, "test-run");
    }

    void holdStepAndContinueActAtOnce() {
        TrainerRun run;
        run.start(endlessSpec(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(1) > 3, 30000);
        QVERIFY(run.post(command("h", CommandKind::kHold)));
        const auto held = run.applied("h");
        QVERIFY(held);
        const auto phase = [&] {
            const auto board = Board::open(run.dir() + "/board/rank-00001");
            return board ? board->status().phase : Phase::kStarting;
        };
        QTRY_COMPARE_WITH_TIMEOUT(phase(), Phase::kHeld, 5000);

        QVERIFY(run.post({"s", CommandKind::kStep, {{"steps", "3"}}}));
        QTRY_COMPARE_WITH_TIMEOUT(run.lastStep(1), held->step + 3, 5000);
        QTRY_COMPARE_WITH_TIMEOUT(phase(), Phase::kHeld, 5000);
        QTRY_COMPARE_WITH_TIMEOUT(run.lastStep(0), held->step + 3, 5000);

        QElapsedTimer sinceContinue;
        sinceContinue.start();
        QVERIFY(run.post(command("c", CommandKind::kContinue)));
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(1) > held->step + 3, 5000);
        QCOMPARE(run.applied("c")->step, held->step + 3);
        QCOMPARE(run.applied("c")->message, std::string());
        QVERIFY(run.post(command("again", CommandKind::kContinue)));
        const auto again = run.applied("again");
        QVERIFY(again && again->ok);
        QCOMPARE(again->message, std::string("it was not held"));
        QVERIFY(run.post(command("stop", CommandKind::kStop)));
        QCOMPARE(run.finish(), both(ExitCode::kStopped));
        QVERIFY(listCheckpoints(run.dir() + "/checkpoints")->empty());
    }

    void heldRunCanBeCheckpointedValidatedAndPaused() {
        TrainerRun run;
        run.start(endlessSpec(), 2);
        QVERIFY(run.post(command("h", CommandKind::kHold)));
        QVERIFY(run.applied("h"));
        const int64_t held = run.applied("h")->step;
        const auto isHeld = [&](int rank) {
            const auto board = Board::open(run.dir() + "/board/rank-0000" + std::to_string(rank));
            return board && board->status().phase == Phase::kHeld && run.lastStep(rank) == held;
        };
        QVERIFY(run.post(command("c", CommandKind::kCheckpoint)));
        const auto saved = run.applied("c");
        QVERIFY(saved && saved->ok);
        QCOMPARE(saved->step, held);
        QVERIFY(verifyCheckpoint(run.checkpoint(held)));
        QTRY_VERIFY_WITH_TIMEOUT(isHeld(0) && isHeld(1), 20000);
        QVERIFY(run.post(command("v", CommandKind::kValidate)));
        const auto validated = run.applied("v");
        QVERIFY(validated && validated->ok);
        QCOMPARE(validated->step, held);
        QTRY_VERIFY_WITH_TIMEOUT(isHeld(0) && isHeld(1), 20000);
        QVERIFY(run.post(command("p", CommandKind::kPause)));
        QCOMPARE(run.finish(), both(ExitCode::kPaused));
        QCOMPARE(run.applied("p")->step, held);
    }

    void setTakesACheckpointFirstAndLastsOverAResume() {
        RunSpec spec = endlessSpec();
        spec.schedule.type = "constant";
        spec.schedule.warmupSteps = 0;
        TrainerRun run;
        run.start(spec, 2);
        QVERIFY(run.post(
            {"set", CommandKind::kSet, {{"optimizer.lr", "0.00125"}, {"optimizer.clip", "0.5"}}}));
        const auto set = run.applied("set");
        QVERIFY(set && set->ok);
        QCOMPARE(set->message, "lr 0.01 -> 0.00125, clip 1 -> 0.5");
        QCOMPARE(readManifest(run.checkpoint(set->step))->reason, "before set clip, lr");
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(1) > set->step, 5000);
        QVERIFY(run.post(command("p", CommandKind::kPause)));
        QCOMPARE(run.finish(), both(ExitCode::kPaused));
        const int64_t paused = run.applied("p")->step;
        for (int rank = 0; rank < 2; ++rank) {
            const auto lr = run.series(rank, metric::kTrainLr);
            QCOMPARE(lr.at(set->step), 0.01f);
            QCOMPARE(lr.at(set->step + 1), 0.00125f);
        }
        spec.train.steps = paused + 2;
        QCOMPARE(run.run(spec, 2, {"--start-from", QString::fromStdString(run.checkpoint(paused))}),
                 both(ExitCode::kOk));
        QCOMPARE(run.series(1, metric::kTrainLr).at(paused + 1), 0.00125f);
        // A branch with a rate of its own.
        const std::string from = run.checkpoint(paused);
        spec.optimizer.lr = 0.002;
        TrainerRun branch;
        QCOMPARE(branch.run(spec, 2, {"--start-from", QString::fromStdString(from)}),
                 both(ExitCode::kOk));
        QCOMPARE(branch.series(1, metric::kTrainLr).at(paused + 1), 0.002f);
        const std::vector<SettingsChanged::Setting> now{{"optimizer.clip", 0.5},
                                                        {"optimizer.lr", 0.00125}};
        QVERIFY((settingsOf(run) == Settings{{}, now, now})); // at the resume's begin, too
        // Another run takes over none, though its spec has the rate that the first began with.
        spec.optimizer.lr = 0.01;
        TrainerRun other;
        other.useRunId("other-run");
        QCOMPARE(other.run(spec, 2, {"--start-from", QString::fromStdString(from)}),
                 both(ExitCode::kOk));
        QCOMPARE(other.series(1, metric::kTrainLr).at(paused + 1), 0.01f);
        QVERIFY(settingsOf(other) == Settings{{}});
    }

    void validateAndSampleWorkWhenAsked() {
        TrainerRun run;
        run.start(endlessSpec(), 2);
        QVERIFY(run.post(command("v", CommandKind::kValidate)));
        const auto validated = run.applied("v");
        QVERIFY(validated && validated->ok);
        QVERIFY(run.series(0, metric::kValidationLoss).contains(validated->step));
        QVERIFY(run.series(1, metric::kValidationLoss).empty());
        QVERIFY(run.post(command("s", CommandKind::kSample)));
        const auto sampled = run.applied("s");
        QVERIFY(sampled);
        QCOMPARE(run.recordsOf<SampleText>(0).size(), 2u);
        QCOMPARE(run.recordsOf<SampleText>(0)[1].text.empty(), false);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(0) > sampled->step + 2, 10000);
        for (const MetricId phase : {metric::kPhaseForwardMs, metric::kPhaseOptimizerMs})
            QVERIFY(!run.series(0, phase).contains(0)); // what a sample waits for is no step's
    }

    void aSampleThatNoneWritesIsRefused() {
        RunSpec spec = endlessSpec();
        spec.validation.sampleTokens = 0;
        TrainerRun run;
        run.start(spec, 1);
        QVERIFY(run.post(command("s", CommandKind::kSample)));
        const auto answer = run.applied("s");
        QVERIFY(answer && !answer->ok);
        QVERIFY2(answer->message.find("validation.sample_tokens is 0") != std::string::npos,
                 answer->message.c_str());
    }

    void wrongCommandIsRefusedAndTrainingGoesOn_data() {
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("message");
        QTest::newRow("unknown key") << "model.width"
                                     << "7"
                                     << "cannot be set";
        QTest::newRow("no number") << "optimizer.lr"
                                   << "fast"
                                   << "not a number";
        QTest::newRow("out of bounds") << "optimizer.lr"
                                       << "-1"
                                       << "allowed";
    }

    void wrongCommandIsRefusedAndTrainingGoesOn() {
        QFETCH(QString, key);
        QFETCH(QString, value);
        QFETCH(QString, message);
        TrainerRun run;
        run.start(endlessSpec(), 1);
        QVERIFY(run.post({"w", CommandKind::kSet, {{key.toStdString(), value.toStdString()}}}));
        const auto refused = run.applied("w");
        QVERIFY(refused && !refused->ok);
        QVERIFY2(refused->message.find(message.toStdString()) != std::string::npos,
                 refused->message.c_str());
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(0) > refused->step + 2, 10000);
    }

    void sameIdTwiceIsOneCommand() {
        TrainerRun run;
        run.start(endlessSpec(), 1);
        QVERIFY(run.post(command("c", CommandKind::kCheckpoint)));
        QVERIFY(run.applied("c"));
        QVERIFY(run.post(command("c", CommandKind::kCheckpoint)));
        QVERIFY(run.post(command("stop", CommandKind::kStop)));
        QCOMPARE(run.finish(), std::vector<int>{static_cast<int>(ExitCode::kStopped)});
        QCOMPARE(run.recordsOf<CheckpointSaved>(0).size(), 1u);
        QCOMPARE(run.recordsOf<CommandApplied>(0).size(), 2u);
    }

    void signalToAnyRankPreemptsAll_data() {
        QTest::addColumn<int>("rank");
        QTest::addColumn<int>("signal");
        QTest::newRow("SIGTERM to rank 0") << 0 << SIGTERM;
        QTest::newRow("SIGUSR1 to rank 0") << 0 << SIGUSR1;
        QTest::newRow("SIGTERM to rank 1") << 1 << SIGTERM;
    }

    void signalToAnyRankPreemptsAll() {
        QFETCH(int, rank);
        QFETCH(int, signal);
        TrainerRun run;
        run.start(endlessSpec(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(1) > 2, 30000);
        ::kill(static_cast<pid_t>(run.rank(rank).processId()), signal);
        QCOMPARE(run.finish(), both(ExitCode::kPreempted));
        const auto saved = run.recordsOf<CheckpointSaved>(0);
        QCOMPARE(saved.size(), 1u);
        QCOMPARE(saved[0].reason, "preempted");
        QCOMPARE(saved[0].step, run.lastStep(1));
    }

    // A handler's frame on top of oneDNN's matrix products may overwrite the heap.
    void signalsInterruptNoThread() {
        TrainerRun run;
        run.start(endlessSpec(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(0) > 2, 30000);
        const QString tasks = QString::asprintf("/proc/%lld/task", run.rank(0).processId());
        const QStringList threads = QDir(tasks).entryList({"[0-9]*"}, QDir::Dirs);
        QVERIFY(threads.size() > 1); // gloo's
        for (const QString& thread : threads) {
            const QString status = tasks + '/' + thread + "/status";
            for (const int signal : {SIGTERM, SIGUSR1}) {
                QVERIFY(!hasSignal(status, "SigCgt", signal));
                QVERIFY2(hasSignal(status, "SigBlk", signal), qPrintable(thread));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestTrainerCommands)
#include "tst_trainer_commands.moc"
