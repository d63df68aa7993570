// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/safetensors.h"
#include "tests/unit/train/rank_ends.h"
#include "tests/unit/train/trainer_run.h"

#include <QObject>
#include <QTest>

#include <cmath>
#include <filesystem>

using namespace rm;
using namespace rm::test;
namespace fs = std::filesystem;

namespace {

const std::vector<int> kAlone{0};
const std::vector<int> kBoth{0, 0};

QStringList from(const std::string& checkpoint) {
    return {"--start-from", QString::fromStdString(checkpoint)};
}

/// Steps whose loss is NaN on one rank, by design: where weights would explode by themselves
/// hangs on how a processor rounds.
struct Faults {
    int64_t from = 0;
    int64_t to = 0;
    int64_t factor = 0; ///< instead of NaN: so many times as large
};

constexpr int64_t kForEver = 1 << 20;
constexpr Faults kSpike{12, 12, 1000};

RunSpec spikeSpec(const std::string& remedy) {
    RunSpec spec = tinySpec();
    spec.train.onSpike = remedy;
    spec.train.spikeWindow = 10;     // so that it is known after five steps,
    spec.train.spikeThreshold = 100; // whose spread is a rough one
    return spec;
}

std::vector<int> runOnTwo(TrainerRun& run, const RunSpec& spec, Faults faults,
                          const QStringList& arguments = {}) {
    qputenv("FAULTY_FROM", QByteArray::number(qint64{faults.from}));
    qputenv("FAULTY_TO", QByteArray::number(qint64{faults.to}));
    if (faults.factor)
        qputenv("FAULTY_FACTOR", QByteArray::number(qint64{faults.factor}));
    else
        qunsetenv("FAULTY_FACTOR");
    run.useProgram(FAULTY_TRAINER);
    return run.run(spec, 2, arguments);
}

std::map<std::string, std::string> hashesOf(const std::string& checkpoint) {
    std::map<std::string, std::string> hashes;
    const auto manifest = readManifest(checkpoint);
    for (size_t i = 0; manifest && i < manifest->files.size(); ++i)
        if (manifest->files[i].name.ends_with(".safetensors"))
            hashes[manifest->files[i].name] = manifest->files[i].sha256;
    return hashes;
}

/// Step of "train step 63: the loss or ..." in what a rank printed; 0: it says nothing.
int64_t brokenStep(const TrainerRun& run, int rank) {
    const QRegularExpression said("train step (\\d+): the loss or its gradients");
    return said.match(run.output(rank)).captured(1).toLongLong();
}

std::vector<Event> eventsOf(const TrainerRun& run, const char* code) {
    std::vector<Event> found;
    for (const Event& event : run.recordsOf<Event>(0))
        if (event.code == code)
            found.push_back(event);
    return found;
}

} // namespace

class TestTrainerGuard : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void stopNamesTheStepHoweverSeldomItLogs() {
        constexpr Faults kFaults{7, kForEver};
        RunSpec spec = tinySpec();
        TrainerRun every;
        QCOMPARE(runOnTwo(every, spec, kFaults), both(ExitCode::kNonFinite));
        QCOMPARE(brokenStep(every, 0), 7);
        QCOMPARE(every.lastStep(0), 7);

        spec.train.logEvery = 1000;
        spec.train.steps = 300;
        TrainerRun seldom;
        QCOMPARE(runOnTwo(seldom, spec, kFaults), both(ExitCode::kNonFinite));
        QCOMPARE(brokenStep(seldom, 0), 7);
        QCOMPARE(brokenStep(seldom, 1), 7);
    }

    void skippedStepsLeaveFiniteWeights() {
        RunSpec spec = tinySpec();
        spec.train.onNonFinite = "skip";
        TrainerRun run;
        QCOMPARE(runOnTwo(run, spec, {7, 12}), kBoth);
        const auto skipped = run.series(0, metric::kTrainSkippedSteps);
        QCOMPARE(skipped.at(6), 0.0f);
        QCOMPARE(skipped.at(12), 6.0f);
        QCOMPARE(skipped.at(20), 6.0f);
        QVERIFY(run.series(1, metric::kTrainSkippedSteps).empty());
        QVERIFY(!eventsOf(run, "steps-skipped").empty());
        const auto file = SafetensorsFile::open(run.checkpoint(20) + "/model.safetensors");
        QVERIFY(file);
        for (const TensorView& tensor : file->tensors())
            for (size_t at = 0; at < tensor.data.size(); at += sizeof(float)) {
                float value = 0;
                std::memcpy(&value, tensor.data.data() + at, sizeof value);
                QVERIFY2(std::isfinite(value), tensor.name.c_str());
            }
    }

    /// It made its steps and learnt nothing from most of them.
    void aRunThatSkippedMostStepsIsNotFinished() {
        RunSpec spec = tinySpec();
        spec.train.onNonFinite = "skip";
        TrainerRun run;
        QCOMPARE(runOnTwo(run, spec, {4, kForEver}), both(ExitCode::kNonFinite));
        QCOMPARE(run.lastStep(0), 20);
        QVERIFY(run.output(0).contains("17 of 20 steps had a loss or gradients"));
        const auto events = eventsOf(run, "steps-skipped");
        QVERIFY2(events.size() <= 6, qPrintable(QString::number(events.size()))); // 1, 2, 4, 8, 16
        QVERIFY(events.back().message.find("17 of 20 steps had") != std::string::npos);
    }

    /// A bound on the way, also where every third step is good.
    void mostOfTheLastHundredStepsSkippedIsTheEnd() {
        RunSpec spec = tinySpec();
        spec.train.onNonFinite = "skip";
        spec.train.steps = 1000;
        spec.train.logEvery = 20;
        TrainerRun run;
        qputenv("FAULTY_SPARE", "3");
        const auto reset = qScopeGuard([] { qunsetenv("FAULTY_SPARE"); });
        QCOMPARE(runOnTwo(run, spec, {61, kForEver}), both(ExitCode::kNonFinite));
        QCOMPARE(run.lastStep(0), 140); // of the steps 41 to 140 those from 61 on, by two thirds
        QVERIFY2(run.output(0).contains("of the last 100 steps"), qPrintable(run.output(0)));
    }

    /// By what boards say, a person is told which rank all others wait for.
    void rankThatStandsInBackwardIsTheOnlyOneThere() {
        constexpr int64_t kStep = 5;
        TrainerRun run;
        run.useProgram(FAULTY_TRAINER);
        qputenv("STOPPED_AT", QByteArray::number(qint64{kStep}));
        run.start(tinySpec(), 2);
        qunsetenv("STOPPED_AT");
        const auto isIn = [&](int rank, Phase phase) {
            const auto board = Board::open(run.dir() + "/board/rank-0000" + std::to_string(rank));
            const auto status = board ? std::optional(board->status()) : std::nullopt;
            return status && status->step == kStep - 1 && status->phase == phase;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isIn(1, Phase::kBackward) && isIn(0, Phase::kAllreduce), 60000);
        QVERIFY(isIn(1, Phase::kBackward));
        for (const int rank : {0, 1})
            run.rank(rank).kill();
    }

    void rollbackGoesOnFromTheCheckpointWithOtherSamples() {
        RunSpec spec = tinySpec();
        spec.train.onNonFinite = "rollback";
        spec.train.steps = 30;
        spec.train.ema = 0.5;
        spec.checkpoint.every = 4;
        TrainerRun run;
        QCOMPARE(runOnTwo(run, spec, {10, 10}), kBoth);
        const auto events = eventsOf(run, "rolled-back");
        QCOMPARE(events.size(), 1u);
        QCOMPARE(events[0].step, 10);
        const QString text = QString::fromStdString(events[0].message);
        QVERIFY2(text.contains("train step 10:") && text.contains("those of step 8 again") &&
                     text.contains("position 80"),
                 qPrintable(text));
        const auto losses = run.series(0, metric::kTrainLoss);
        QCOMPARE(losses.size(), 30u);
        QVERIFY(std::isfinite(losses.at(30)));
    }

    void rollbackNeverTakesAnAbandonedCheckpoint() {
        RunSpec spec = tinySpec();
        spec.checkpoint.every = 4;
        spec.train.steps = 12;
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), kBoth);
        spec.train.onNonFinite = "rollback";
        QCOMPARE(runOnTwo(run, spec, {2, kForEver}, from(run.checkpoint(4))),
                 both(ExitCode::kNonFinite));
        const auto events = eventsOf(run, "rolled-back");
        QVERIFY(!events.empty());
        for (const Event& event : events)
            QVERIFY2(event.message.find("those of step 4 again") != std::string::npos,
                     event.message.c_str());
    }

    void whatNeverMendsEnds_data() {
        QTest::addColumn<QString>("remedy");
        QTest::addColumn<int64_t>("checkpointEvery");
        QTest::addColumn<size_t>("rollbacks");
        QTest::newRow("skip") << "skip" << int64_t{0} << size_t{0};
        QTest::newRow("rollback without a checkpoint") << "rollback" << int64_t{0} << size_t{0};
        QTest::newRow("rollback that does not help") << "rollback" << int64_t{3} << size_t{3};
    }

    void whatNeverMendsEnds() {
        QFETCH(QString, remedy);
        QFETCH(int64_t, checkpointEvery);
        QFETCH(size_t, rollbacks);
        RunSpec spec = tinySpec();
        spec.train.steps = 300;
        spec.train.onNonFinite = remedy.toStdString();
        spec.checkpoint.every = checkpointEvery;
        TrainerRun run;
        QCOMPARE(runOnTwo(run, spec, {7, kForEver}), both(ExitCode::kNonFinite));
        QCOMPARE(eventsOf(run, "rolled-back").size(), rollbacks);
    }

    void aSpikeOfOneRankIsToldOnceAndChangesNothing() {
        RunSpec spec = spikeSpec("warn");
        TrainerRun reported;
        QCOMPARE(runOnTwo(reported, spec, kSpike), kBoth);
        const auto events = eventsOf(reported, "spike");
        QCOMPARE(events.size(), 1u);
        QVERIFY2(events[0].message.starts_with("train step 12: the loss "),
                 events[0].message.c_str());
        QVERIFY(events[0].severity == Severity::kWarning);
        spec.train.onSpike = "ignore";
        TrainerRun silent;
        QCOMPARE(runOnTwo(silent, spec, kSpike), kBoth);
        QVERIFY(eventsOf(silent, "spike").empty());
        QCOMPARE(hashesOf(silent.checkpoint(20)), hashesOf(reported.checkpoint(20)));
    }

    void aDefaultRunWithoutSpikesTellsNone() {
        RunSpec spec = tinySpec();
        spec.train.steps = 120;
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), kBoth);
        QVERIFY(eventsOf(run, "spike").empty());
    }

    void theUpdateOfASpikeIsLeftOutAndResumesBitEqual() {
        RunSpec spec = spikeSpec("skip");
        spec.optimizer.clip = 0; // or the update would be small anyway
        spec.checkpoint.every = 10;
        TrainerRun skipped;
        QCOMPARE(runOnTwo(skipped, spec, kSpike), kBoth);
        const auto events = eventsOf(skipped, "spike");
        QCOMPARE(events.size(), 1u);
        QVERIFY2(events[0].message.find("left out") != std::string::npos,
                 events[0].message.c_str());
        spec.train.onSpike = "ignore";
        TrainerRun applied;
        QCOMPARE(runOnTwo(applied, spec, kSpike), kBoth);
        QVERIFY(hashesOf(applied.checkpoint(20)) != hashesOf(skipped.checkpoint(20)));

        spec.train.onSpike = "skip";
        TrainerRun resumed; // its step 2 is the run's step 12
        QCOMPARE(runOnTwo(resumed, spec, {2, 2, kSpike.factor}, from(skipped.checkpoint(10))),
                 kBoth);
        QCOMPARE(hashesOf(resumed.checkpoint(20)), hashesOf(skipped.checkpoint(20)));
    }

    void aSpikeRollsBackToBeforeItWithALowerRate() {
        RunSpec spec = spikeSpec("rollback");
        spec.train.rollbackLrFactor = 0.5;
        spec.schedule.type = "constant";
        spec.schedule.warmupSteps = 0;
        spec.checkpoint.every = 29; // right after the spike, before it is known
        spec.train.steps = 40;
        TrainerRun run;
        QCOMPARE(runOnTwo(run, spec, {28, 28, kSpike.factor}, {"--save-initial"}), kBoth);
        const auto events = eventsOf(run, "rolled-back");
        QCOMPARE(events.size(), 1u);
        QCOMPARE(events[0].step, 29);
        const QString text = QString::fromStdString(events[0].message);
        QVERIFY2(text.startsWith("train step 28: the loss") &&
                     text.contains("those of step 0 again") && text.contains("lr 0.01 -> 0.005"),
                 qPrintable(text));
        const auto rates = run.series(0, metric::kTrainLr);
        QCOMPARE(rates.at(29), 0.01f);
        QCOMPARE(rates.at(30), 0.005f);
    }

    void spikesEndTheRunWhereThatIsAskedOrNothingHelps_data() {
        QTest::addColumn<QString>("remedy");
        QTest::addColumn<size_t>("rollbacks");
        QTest::newRow("stop") << "stop" << size_t{0};
        QTest::newRow("rollback that does not help") << "rollback" << size_t{3};
    }

    void spikesEndTheRunWhereThatIsAskedOrNothingHelps() {
        QFETCH(QString, remedy);
        QFETCH(size_t, rollbacks);
        RunSpec spec = spikeSpec(remedy.toStdString());
        spec.train.steps = 300;
        spec.train.spikeWindow = 20;
        spec.checkpoint.every = 5;
        TrainerRun run;
        QCOMPARE(runOnTwo(run, spec, {22, kForEver, kSpike.factor}), both(ExitCode::kSpiked));
        QCOMPARE(eventsOf(run, "rolled-back").size(), rollbacks);
        QVERIFY2(run.output(0).contains("train step "), qPrintable(run.output(0)));
    }

    void float16ScalesItsLossAndResumesBitEqual() {
        RunSpec spec = tinySpec();
        spec.train.precision = "float16";
        spec.checkpoint.every = 10;
        TrainerRun whole;
        QCOMPARE(whole.run(spec, 2), kBoth);
        const auto scales = whole.series(0, metric::kTrainLossScale);
        QCOMPARE(scales.size(), 20u);
        const auto losses = whole.series(0, metric::kTrainLoss);
        QVERIFY(losses.at(20) < losses.at(1));
        TrainerRun resumed;
        QCOMPARE(resumed.run(spec, 2, from(whole.checkpoint(10))), kBoth);
        const auto after = resumed.series(0, metric::kTrainLoss);
        QCOMPARE(after.size(), 10u);
        for (const auto& [step, loss] : after)
            QCOMPARE(std::bit_cast<uint32_t>(loss), std::bit_cast<uint32_t>(losses.at(step)));
        QCOMPARE(hashesOf(resumed.checkpoint(20)), hashesOf(whole.checkpoint(20)));
    }

    void halfPrecisionsAreCloseToFloat32_data() {
        QTest::addColumn<QString>("precision");
        QTest::newRow("bfloat16") << "bfloat16";
        QTest::newRow("float16") << "float16";
    }

    void halfPrecisionsAreCloseToFloat32() {
        QFETCH(QString, precision);
        RunSpec spec = tinySpec();
        TrainerRun exact;
        QCOMPARE(exact.run(spec, 1), kAlone);
        spec.train.precision = precision.toStdString();
        TrainerRun half;
        QCOMPARE(half.run(spec, 1), kAlone);
        const auto expected = exact.series(0, metric::kTrainLoss);
        for (const auto& [step, loss] : half.series(0, metric::kTrainLoss))
            QVERIFY(std::abs(loss - expected.at(step)) < 0.02f * expected.at(step));
    }

    void averagesAreSavedUsedAndResumedExactly() {
        RunSpec spec = tinySpec();
        spec.train.ema = 0.9;
        spec.checkpoint.every = 10;
        spec.validation.every = 5;
        TrainerRun whole;
        QCOMPARE(whole.run(spec, 2), kBoth);
        const auto hashes = hashesOf(whole.checkpoint(20));
        QVERIFY(hashes.contains("ema.safetensors"));
        QVERIFY(hashes.at("ema.safetensors") != hashes.at("model.safetensors"));
        TrainerRun resumed;
        QCOMPARE(resumed.run(spec, 2, from(whole.checkpoint(10))), kBoth);
        QCOMPARE(hashesOf(resumed.checkpoint(20)), hashes);

        RunSpec plain = spec;
        plain.train.ema = 0;
        TrainerRun without;
        QCOMPARE(without.run(plain, 2), kBoth);
        QCOMPARE(without.series(0, metric::kTrainLoss), whole.series(0, metric::kTrainLoss));
        QVERIFY(without.series(0, metric::kValidationLoss) !=
                whole.series(0, metric::kValidationLoss));
    }

    void patienceEndsARunThatDoesNotImprove() {
        RunSpec spec = tinySpec();
        spec.optimizer.lr = 0;
        spec.schedule.type = "constant";
        spec.validation.every = 2;
        spec.train.patience = 3;
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), kBoth);
        QCOMPARE(run.lastStep(0), 8); // the first validation is the best
        QCOMPARE(eventsOf(run, "stopped-early").size(), 1u);
        QCOMPARE(readManifest(run.checkpoint(8))->reason, "end");
    }

    void checkpointHoldsItsOwnStepAlthoughTrainingGoesOn() {
        RunSpec spec = tinySpec();
        spec.model.width = 256;
        spec.train.steps = 12;
        spec.checkpoint.every = 1;
        spec.checkpoint.keepLast = 100;
        TrainerRun beside;
        QCOMPARE(beside.run(spec, 2), kBoth);
        spec.checkpoint.every = 0;
        spec.schedule.type = "cosine";
        for (const int64_t step : {3, 7}) {
            TrainerRun alone;
            alone.start(spec, 2);
            QVERIFY(alone.post({"hold", CommandKind::kStep, {{"steps", "1"}}}));
            const auto held = alone.applied("hold");
            QVERIFY(held && held->ok);
            // To the step wanted, if the hold came before it.
            if (held->step + 1 < step)
                QVERIFY(alone.post({"on",
                                    CommandKind::kStep,
                                    {{"steps", std::to_string(step - held->step - 1)}}}));
            QVERIFY(alone.post({"pause", CommandKind::kPause, {}}));
            const auto paused = alone.applied("pause");
            QVERIFY(paused && paused->ok);
            alone.finish();
            QCOMPARE(hashesOf(alone.checkpoint(paused->step)),
                     hashesOf(beside.checkpoint(paused->step)));
        }
    }

    void killedWhileWritingLeavesWholeCheckpointsOnly() {
        RunSpec spec = tinySpec();
        spec.model.width = 384;
        spec.train.steps = 100000;
        spec.schedule.warmupSteps = 0;
        spec.checkpoint.every = 1;
        TrainerRun run;
        run.start(spec, 1);
        const std::string folder = run.dir() + "/checkpoints";
        const auto isWriting = [&] {
            std::error_code error;
            for (const auto& entry : fs::directory_iterator(folder, error))
                if (entry.path().filename().string().starts_with("tmp-") &&
                    fs::exists(entry.path() / "model.safetensors"))
                    return true;
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(!listCheckpoints(folder)->empty(), 20000);
        QTRY_VERIFY_WITH_TIMEOUT(isWriting(), 20000);
        run.rank(0).kill();
        run.finish();
        const auto saved = listCheckpoints(folder);
        QVERIFY(saved && !saved->empty());
        for (const CheckpointEntry& entry : *saved)
            QVERIFY(verifyCheckpoint(entry.path));
        spec.train.steps = saved->back().manifest.step + 1;
        QCOMPARE(run.run(spec, 1, from(saved->back().path)), kAlone);
        for (const auto& entry : fs::directory_iterator(folder))
            QVERIFY(entry.path().filename() == "OWNER.json" ||
                    entry.path().filename().string().starts_with("step-"));
    }
};

QTEST_GUILESS_MAIN(TestTrainerGuard)
#include "tst_trainer_guard.moc"
