// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "shared/exit_code.h"
#include "tests/unit/train/rank_ends.h"
#include "tests/unit/train/trainer_run.h"
#include "tests/unit/train/translation_run.h"

#include <QObject>
#include <QRegularExpression>
#include <QTest>

#include <bit>
#include <set>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int64_t kEpochs = 2;
constexpr int64_t kPairs = 8; ///< a rank and batch

/// Two epochs of pairs at random, or of batches by tokens.
RunSpec epochSpec(const QTemporaryDir& folder, bool isByTokens) {
    RunSpec spec = translationSpec(folder.filePath("pairs.tsv"));
    spec.model.dropout = 0.1;
    spec.train.epochs = kEpochs;
    spec.train.batchTokens = isByTokens ? 64 : 0;
    spec.train.batchSize = kPairs;
    spec.validation.everyEpochs = 1;
    spec.checkpoint.everyEpochs = 1;
    return spec;
}

int64_t lastStepOf(const TrainerRun& run) {
    return run.recordsOf<StepsPlanned>(0).back().lastStep;
}

std::set<int64_t> validatedAt(const TrainerRun& run) {
    std::set<int64_t> steps;
    for (const auto& [step, loss] : run.series(0, metric::kValidationLoss))
        steps.insert(step);
    return steps;
}

std::set<int64_t> after(const std::set<int64_t>& steps, int64_t step) {
    return {steps.upper_bound(step), steps.end()};
}

std::string reasonAt(const TrainerRun& run, int64_t step) {
    const auto manifest = readManifest(run.checkpoint(step));
    return manifest ? manifest->reason : manifest.error().message;
}

QStringList from(const std::string& checkpoint) {
    return {"--start-from", QString::fromStdString(checkpoint)};
}

} // namespace

/// Real trainers that count passes over their data instead of steps.
class TestTrainerEpochs : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aRunEndsAfterItsEpochsAndValidatesAtEach() {
        const QTemporaryDir folder;
        const RunSpec spec = epochSpec(folder, false);
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), both(ExitCode::kOk));
        const auto reported = QRegularExpression("(\\d+) training").match(run.output(0));
        QVERIFY2(reported.hasMatch(), qPrintable(run.output(0)));
        const int64_t pairs = reported.captured(1).toLongLong();
        const int64_t atOnce = 2 * kPairs;
        const auto endOf = [&](int64_t epoch) { return (epoch * pairs + atOnce - 1) / atOnce; };
        QCOMPARE(lastStepOf(run), endOf(kEpochs));
        for (const int rank : {0, 1})
            QCOMPARE(run.lastStep(rank), endOf(kEpochs));
        QCOMPARE(validatedAt(run), (std::set<int64_t>{endOf(1), endOf(2)}));
        QCOMPARE(run.series(0, metric::kValidationBleu).size(), size_t{2});
        QCOMPARE(reasonAt(run, endOf(1)), std::string("epoch 1"));
        QCOMPARE(reasonAt(run, endOf(2)), std::string("end"));
        // The schedule ends where the epochs do.
        QCOMPARE(run.series(0, metric::kTrainLr).at(endOf(kEpochs)), 0.0f);
    }

    void resumedInTheMiddleOfAnEpochIsBitEqual_data() {
        QTest::addColumn<bool>("isByTokens");
        QTest::addColumn<bool>("isAtItsEnd");
        QTest::newRow("pairs") << false << false;
        QTest::newRow("pairs, from the end of an epoch") << false << true;
        QTest::newRow("batches by tokens") << true << false;
    }
    void resumedInTheMiddleOfAnEpochIsBitEqual() {
        QFETCH(bool, isByTokens);
        QFETCH(bool, isAtItsEnd);
        const QTemporaryDir folder;
        RunSpec spec = epochSpec(folder, isByTokens);
        spec.checkpoint.every = isAtItsEnd ? 0 : 7;
        spec.checkpoint.keepLast = 100; // or the one that is gone on from is removed
        TrainerRun whole, resumed;
        QCOMPARE(whole.run(spec, 2), both(ExitCode::kOk));
        const int64_t step = isAtItsEnd ? *validatedAt(whole).begin() : 7;
        QVERIFY(isAtItsEnd || step < *validatedAt(whole).begin());
        QCOMPARE(resumed.run(spec, 2, from(whole.checkpoint(step))), both(ExitCode::kOk));
        QCOMPARE(lastStepOf(resumed), lastStepOf(whole));
        QCOMPARE(validatedAt(resumed), after(validatedAt(whole), step));
        for (const int rank : {0, 1}) {
            const auto expected = whole.series(rank, metric::kTrainLoss);
            const auto actual = resumed.series(rank, metric::kTrainLoss);
            QCOMPARE(int64_t(actual.size()), lastStepOf(whole) - step);
            for (const auto& [at, loss] : actual)
                QCOMPARE(std::bit_cast<uint32_t>(loss), std::bit_cast<uint32_t>(expected.at(at)));
        }
    }

    void anotherNumberOfRanksEndsAtTheSameSteps() {
        const QTemporaryDir folder;
        RunSpec spec = epochSpec(folder, false);
        spec.checkpoint.every = 7;
        spec.checkpoint.keepLast = 100; // as above
        TrainerRun whole, alone;
        QCOMPARE(whole.run(spec, 2), both(ExitCode::kOk));
        QCOMPARE(alone.run(spec, 1, from(whole.checkpoint(7))), std::vector<int>{0});
        QCOMPARE(lastStepOf(alone), lastStepOf(whole));
        QCOMPARE(validatedAt(alone), after(validatedAt(whole), 7));
    }

    /// A restart that comes after the last step has nothing to train, and ends well.
    void fromTheLastStepNothingIsTrained() {
        const QTemporaryDir folder;
        const RunSpec spec = epochSpec(folder, false);
        TrainerRun whole, again;
        QCOMPARE(whole.run(spec, 2), both(ExitCode::kOk));
        const int64_t last = lastStepOf(whole);
        QCOMPARE(again.run(spec, 2, from(whole.checkpoint(last))), both(ExitCode::kOk));
        QCOMPARE(again.lastStep(0), int64_t{0});
        QCOMPARE(validatedAt(again), std::set<int64_t>{last});
    }

    void aWarmUpLongerThanTheEpochsIsRefused() {
        const QTemporaryDir folder;
        RunSpec spec = epochSpec(folder, false);
        spec.schedule.warmupSteps = 100000;
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), both(ExitCode::kUsage));
        QVERIFY2(
            run.output(0).contains("schedule.warmup_steps and schedule.decay_steps are 100000"),
            qPrintable(run.output(0)));
    }
};

QTEST_GUILESS_MAIN(TestTrainerEpochs)
#include "tst_trainer_epochs.moc"
