// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "shared/exit_code.h"
#include "tests/unit/train/trainer_run.h"
#include "tests/unit/train/translation_run.h"

#include <QObject>
#include <QTest>

#include <cmath>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kTolerance = 1e-5; // of float32, relative
constexpr double kNormTolerance = 1e-3;
constexpr int64_t kGlobalBatch = 8; // positions of a step: samples; of a translation, batches

using Curve = std::map<int64_t, double>;

/// A model that fills several buckets of 1 MiB.
RunSpec worldSpec() {
    RunSpec spec = tinySpec();
    spec.model.width = 128;
    spec.model.layers = 3;
    spec.model.context = 16;
    spec.train.steps = 12;
    spec.distribution.bucketMb = 1;
    return spec;
}

Curve seriesOf(const TrainerRun& run, int rank, MetricId id) {
    const auto series = run.series(rank, id);
    return {series.begin(), series.end()};
}

/// Targets that a rank learnt from, by step.
Curve targetsOf(const TrainerRun& run, int rank) {
    const Curve perSecond = seriesOf(run, rank, metric::kTrainTokensPerS);
    Curve targets;
    for (const auto& [step, ms] : seriesOf(run, rank, metric::kTrainStepMs))
        targets[step] = std::round(perSecond.at(step) * ms / 1e3);
    return targets;
}

/// Mean loss over the targets of a step, by step.
Curve curveOf(const TrainerRun& run, int worldSize) {
    Curve curve, all;
    for (int rank = 0; rank < worldSize; ++rank) {
        const Curve losses = seriesOf(run, rank, metric::kTrainLoss);
        for (const auto& [step, targets] : targetsOf(run, rank)) {
            curve[step] += losses.at(step) * targets;
            all[step] += targets;
        }
    }
    for (auto& [step, loss] : curve)
        loss /= all.at(step);
    return curve;
}

/// Empty, or where two curves differ first; only steps of `actual`.
QString difference(const Curve& actual, const Curve& expected, double tolerance) {
    for (const auto& [step, loss] : actual)
        if (!expected.contains(step) ||
            !(std::abs(loss - expected.at(step)) <= tolerance * std::abs(expected.at(step))))
            return QString("step %1: %2 instead of %3")
                .arg(step)
                .arg(loss, 0, 'g', 9)
                .arg(expected.contains(step) ? expected.at(step) : 0, 0, 'g', 9);
    return actual.empty() ? "no steps" : "";
}

std::vector<int> allOk(int worldSize) {
    return std::vector<int>(static_cast<size_t>(worldSize), 0);
}

/// What runs of TestTrainerWorlds::specOf() measure at validation.
std::vector<MetricId> validated(const QString& type) {
    if (type == "adamw")
        return {};
    if (type == "sgd" || type == "llama")
        return {metric::kValidationLoss};
    return {metric::kValidationLoss, metric::kValidationBleu, metric::kValidationChrf,
            metric::kValidationCer, metric::kValidationWer};
}

QStringList from(const std::string& checkpoint) {
    return {"--start-from", QString::fromStdString(checkpoint)};
}

} // namespace

/// One run, however it is cut: real processes over Gloo on loopback.
class TestTrainerWorlds : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        for (const char* type : {"adamw", "sgd", "llama", "translation"}) {
            TrainerRun& alone = m_alone[type];
            QCOMPARE(alone.run(specOf(type, 8, false, false), 1), allOk(1));
        }
    }

    /// Of the first run alone, as tst_python_peer and others hold forwardFlops() against PyTorch.
    void aRankTellsTheOperationsOfItsModel() {
        const TrainerRun& alone = m_alone["adamw"];
        const RunSpec spec = worldSpec();
        constexpr double kVocab = 256, kForwardAndBackward = 3;
        const auto width = static_cast<double>(spec.model.width);
        const auto layers = static_cast<double>(spec.model.layers);
        const auto context = static_cast<double>(spec.model.context);
        const double matrices = layers * 12 * width * width + kVocab * width;
        const double ofAToken = kForwardAndBackward * (2 * matrices + layers * 4 * context * width);
        const Curve ms = seriesOf(alone, 0, metric::kTrainStepMs);
        const Curve tflops = seriesOf(alone, 0, metric::kTrainTflops);
        QCOMPARE(tflops.size(), ms.size());
        for (const auto& [step, targets] : targetsOf(alone, 0)) {
            const double told = tflops.at(step) * 1e9 * ms.at(step);
            QVERIFY2(std::abs(told / (targets * ofAToken) - 1) < 1e-4,
                     qPrintable(QString::number(told / targets / ofAToken)));
        }
        QVERIFY(seriesOf(alone, 0, metric::kTrainMfu).empty()); // of a processor no peak is known
    }

    void everyCutGivesTheSameRun_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("batchSize");
        QTest::addColumn<bool>("sharded");
        QTest::addColumn<bool>("staticGraph");
        QTest::newRow("1 rank, accumulated") << "adamw" << 1 << 2 << false << false;
        QTest::newRow("1 rank, sharded") << "adamw" << 1 << 8 << true << false;
        QTest::newRow("2 ranks") << "adamw" << 2 << 4 << false << false;
        QTest::newRow("2 ranks, accumulated") << "adamw" << 2 << 2 << false << false;
        QTest::newRow("2 ranks, static graph, accumulated") << "adamw" << 2 << 2 << false << true;
        QTest::newRow("2 ranks, static graph") << "adamw" << 2 << 4 << false << true;
        QTest::newRow("2 ranks, sharded, static graph") << "adamw" << 2 << 4 << true << true;
        QTest::newRow("2 ranks, sharded") << "adamw" << 2 << 4 << true << false;
        QTest::newRow("2 ranks, sharded, accumulated") << "adamw" << 2 << 1 << true << false;
        QTest::newRow("4 ranks") << "adamw" << 4 << 2 << false << false;
        QTest::newRow("4 ranks, sharded, accumulated") << "adamw" << 4 << 1 << true << false;
        QTest::newRow("2 ranks, sgd, averaged") << "sgd" << 2 << 4 << false << false;
        QTest::newRow("2 ranks, sgd, averaged, sharded") << "sgd" << 2 << 4 << true << false;
        QTest::newRow("2 ranks, llama") << "llama" << 2 << 4 << false << false;
        QTest::newRow("4 ranks, llama, sharded, recomputed") << "llama" << 4 << 2 << true << false;
        QTest::newRow("2 ranks, translation") << "translation" << 2 << 1 << false << false;
        QTest::newRow("4 ranks, translation, sharded, recomputed")
            << "translation" << 4 << 1 << true << false;
    }

    void everyCutGivesTheSameRun() {
        QFETCH(QString, type);
        QFETCH(int, ranks);
        QFETCH(int, batchSize);
        QFETCH(bool, sharded);
        QFETCH(bool, staticGraph);
        TrainerRun run;
        QCOMPARE(run.run(specOf(type, batchSize, sharded, staticGraph), ranks), allOk(ranks));
        QString differs = difference(curveOf(run, ranks), curveOf(m_alone[type], 1), kTolerance);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
        differs = difference(seriesOf(run, ranks - 1, metric::kTrainGradNorm),
                             seriesOf(m_alone[type], 0, metric::kTrainGradNorm), kNormTolerance);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
        for (const MetricId id : validated(type)) {
            differs = difference(seriesOf(run, 0, id), seriesOf(m_alone[type], 0, id), kTolerance);
            QVERIFY2(differs.isEmpty(), qPrintable(differs));
        }
    }

    void unevenRanksWeighByTheirSamples() {
        RunSpec spec = specOf("adamw", 4, false, false);
        spec.train.rankBatchSizes = {3, 1};
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), allOk(2));
        const QString differs =
            difference(curveOf(run, 2), curveOf(m_alone["adamw"], 1), kTolerance);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
    }

    /// Within one rank they are right, so that no test before the run finds it.
    void ranksWhoseDeviceSumsWronglySumByGlooAndSayIt() {
        TrainerRun run;
        run.useProgram(UNSOUND_TRAINER);
        QCOMPARE(run.run(specOf("adamw", 4, false, false), 2), allOk(2));
        const QString differs =
            difference(curveOf(run, 2), curveOf(m_alone["adamw"], 1), kTolerance);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
        QCOMPARE(curveOf(run, 2).size(), curveOf(m_alone["adamw"], 1).size());
        const std::vector<QString> faults{"another rank's failed", "sums are wrong"};
        for (int rank = 0; rank < 2; ++rank) {
            QStringList reported;
            for (const Event& event : run.recordsOf<Event>(rank))
                if (event.code == "fast-path-off")
                    reported << QString::fromStdString(event.message);
            QVERIFY2(reported.size() == 1, qPrintable(reported.join('\n')));
            for (const QString& words :
                 {QString("the collectives of fake are off"), faults[static_cast<size_t>(rank)],
                  QString("gradients are summed by Gloo")})
                QVERIFY2(reported[0].contains(words), qPrintable(reported[0]));
        }
    }

    void sizesForOtherRanksAreRefused() {
        RunSpec spec = worldSpec();
        spec.train.globalBatch = kGlobalBatch;
        spec.train.rankBatchSizes = {3, 1};
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), std::vector<int>{static_cast<int>(ExitCode::kUsage)});
        QVERIFY2(run.output(0).contains("names 2 ranks, but the run has 1"),
                 qPrintable(run.output(0)));
    }

    void compressedGradientsAreCloseNotEqual_data() {
        QTest::addColumn<QString>("compression");
        QTest::addColumn<bool>("sharded");
        QTest::newRow("bfloat16") << "bfloat16" << false;
        QTest::newRow("float16") << "float16" << false;
        QTest::newRow("bfloat16, sharded") << "bfloat16" << true;
    }

    void compressedGradientsAreCloseNotEqual() {
        QFETCH(QString, compression);
        QFETCH(bool, sharded);
        // Adam divides a gradient by its own size, which makes much of little: sgd does not.
        RunSpec spec = specOf("sgd", 4, sharded, false);
        spec.distribution.compression = compression.toStdString();
        spec.train.ema = 0; // weights that are averaged wait for no forward pass
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), allOk(2));
        const Curve curve = curveOf(run, 2);
        const Curve alone = curveOf(m_alone["sgd"], 1);
        const QString differs = difference(curve, alone, 2e-3);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
        QVERIFY(!difference(curve, alone, 1e-8).isEmpty());
    }

    void anyWorldGoesOnFromACheckpoint_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<bool>("savedSharded");
        QTest::addColumn<int>("ranks");
        QTest::addColumn<bool>("sharded");
        QTest::newRow("1 rank") << "adamw" << false << 1 << false;
        QTest::newRow("2 ranks, now sharded") << "adamw" << false << 2 << true;
        QTest::newRow("4 ranks") << "adamw" << false << 4 << false;
        QTest::newRow("from sharded, 1 rank") << "adamw" << true << 1 << false;
        QTest::newRow("from sharded, 2 ranks, not sharded now") << "adamw" << true << 2 << false;
        QTest::newRow("from sharded, 4 ranks") << "adamw" << true << 4 << true;
        QTest::newRow("llama, 4 ranks") << "llama" << false << 4 << false;
        QTest::newRow("translation, 1 rank") << "translation" << false << 1 << false;
    }

    void anyWorldGoesOnFromACheckpoint() {
        QFETCH(QString, type);
        QFETCH(bool, savedSharded);
        QFETCH(int, ranks);
        QFETCH(bool, sharded);
        const TrainerRun& whole = savedByTwo(type, savedSharded);
        RunSpec spec = specOf(type, ranks == 2 ? 4 : 2, sharded, false);
        spec.train.globalBatch = 0; // the checkpoint knows
        TrainerRun resumed;
        QCOMPARE(resumed.run(spec, ranks, from(whole.checkpoint(6))), allOk(ranks));
        const Curve curve = curveOf(resumed, ranks);
        QCOMPARE(curve.begin()->first, 7);
        QCOMPARE(curve.size(), 6u);
        const QString differs = difference(curve, curveOf(m_alone[type], 1), kTolerance);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
    }

    void shardedResumeIsBitEqual() {
        const TrainerRun& whole = savedByTwo("adamw", true);
        RunSpec spec = specOf("adamw", 4, true, false);
        TrainerRun resumed;
        QCOMPARE(resumed.run(spec, 2, from(whole.checkpoint(6))), allOk(2));
        for (int rank = 0; rank < 2; ++rank) {
            const auto expected = whole.series(rank, metric::kTrainLoss);
            for (const auto& [step, loss] : resumed.series(rank, metric::kTrainLoss))
                QCOMPARE(std::bit_cast<uint32_t>(loss), std::bit_cast<uint32_t>(expected.at(step)));
        }
    }

    void checkpointDoesNotShowHowItWasSharded() {
        const auto sizes = [](const TrainerRun& run) {
            std::map<std::string, int64_t> files;
            const auto manifest = readManifest(run.checkpoint(6));
            for (const auto& file : manifest->files)
                if (file.name.ends_with(".safetensors"))
                    files[file.name] = file.size;
            return files;
        };
        QCOMPARE(sizes(savedByTwo("adamw", true)), sizes(savedByTwo("adamw", false)));
    }

    void stepsStayAsLargeInEveryLaterAttempt() {
        RunSpec spec = specOf("adamw", 4, false, false);
        spec.train.globalBatch = 0; // the two ranks' batches make a step, then one rank's twice two
        spec.checkpoint.every = 8;
        TrainerRun first, second;
        QCOMPARE(first.run(spec, 1, from(savedByTwo("adamw", false).checkpoint(6))), allOk(1));
        QCOMPARE(second.run(spec, 1, from(first.checkpoint(8))), allOk(1));
        const auto expected = first.series(0, metric::kTrainLoss);
        const auto series = second.series(0, metric::kTrainLoss);
        QVERIFY(!series.empty());
        for (const auto& [step, loss] : series)
            QCOMPARE(std::bit_cast<uint32_t>(loss), std::bit_cast<uint32_t>(expected.at(step)));
    }

    void stepsThatCannotBeCutAreRefused() {
        RunSpec spec = specOf("adamw", 3, false, false);
        spec.train.globalBatch = 0;
        TrainerRun resumed;
        const int usage = static_cast<int>(ExitCode::kUsage);
        QCOMPARE(resumed.run(spec, 1, from(savedByTwo("adamw", false).checkpoint(6))),
                 std::vector<int>{usage});
        QVERIFY2(resumed.output(0).contains("steps of 8 samples as those of the checkpoint, made "
                                            "by 2 ranks: 1 rank takes 3 at once"),
                 qPrintable(resumed.output(0)));
    }

private:
    /// `type`: an optimizer of a GPT, "llama", or "translation", where `batchSize` is of no matter.
    /// Of these two `sharded` has activations computed again, too.
    RunSpec specOf(const QString& type, int64_t batchSize, bool sharded, bool staticGraph) const {
        const bool translates = type == "translation";
        RunSpec spec = translates ? translationSpec(m_folder.filePath("pairs.tsv")) : worldSpec();
        spec.train.globalBatch = kGlobalBatch;
        if (type != "adamw")
            spec.validation.every = 6;
        if (type == "llama") {
            spec.model.type = "llama";
            spec.model.kvHeads = spec.model.heads / 2;
            spec.validation.batches = 2 * kGlobalBatch / batchSize;
        } else if (!translates) {
            spec.optimizer.type = type.toStdString();
        }
        if (type == "sgd") {
            spec.train.ema = 0.9; // which is what it validates
            spec.optimizer.clipValue = 0.01;
            spec.validation.batches = 2 * kGlobalBatch / batchSize;
        }
        spec.train.activationCheckpointing = (translates || type == "llama") && sharded;
        spec.optimizer.lr = type == "sgd" ? 0.1 : 3e-3;
        spec.optimizer.sharded = sharded;
        spec.train.batchSize = batchSize;
        spec.distribution.staticGraph = staticGraph;
        return spec;
    }

    /// A run of two ranks with a checkpoint after step 6.
    const TrainerRun& savedByTwo(const QString& type, bool sharded) {
        auto& saved = m_saved[{type, sharded}];
        if (saved)
            return *saved;
        saved = std::make_unique<TrainerRun>();
        RunSpec spec = specOf(type, 4, sharded, false);
        spec.checkpoint.every = 6;
        if (saved->run(spec, 2) != allOk(2))
            qFatal("the run to go on from failed: %s", qPrintable(saved->output(0)));
        return *saved;
    }

    const QTemporaryDir m_folder;
    std::map<QString, TrainerRun> m_alone; ///< runs of one rank, by type
    std::map<std::pair<QString, bool>, std::unique_ptr<TrainerRun>> m_saved;
};

QTEST_GUILESS_MAIN(TestTrainerWorlds)
#include "tst_trainer_worlds.moc"
