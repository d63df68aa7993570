// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "shared/exit_code.h"
#include "tests/unit/train/trainer_run.h"

#include <QObject>
#include <QTest>

#include <numeric>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kTolerance = 1e-5; // of float32, relative
constexpr double kNormTolerance = 1e-3;
constexpr int64_t kGlobalBatch = 8;

using Curve = std::map<int64_t, double>;

/// A model that fills several buckets of 1 MiB; every step takes kGlobalBatch samples.
RunSpec worldSpec() {
    RunSpec spec = tinySpec();
    spec.model.width = 128;
    spec.model.layers = 3;
    spec.model.context = 16;
    spec.train.steps = 12;
    spec.train.globalBatch = kGlobalBatch;
    spec.distribution.bucketMb = 1;
    return spec;
}

/// Mean loss over the samples of a step, by step; `sizes`: samples of a micro-batch by rank.
Curve curveOf(const TrainerRun& run, const std::vector<int64_t>& sizes) {
    const auto all = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}));
    Curve curve;
    for (size_t rank = 0; rank < sizes.size(); ++rank)
        for (const auto& [step, loss] : run.series(static_cast<int>(rank), metric::kTrainLoss))
            curve[step] += loss * static_cast<double>(sizes[rank]) / all;
    return curve;
}

Curve curveOf(const TrainerRun& run, int worldSize) {
    return curveOf(run, std::vector<int64_t>(static_cast<size_t>(worldSize), 1));
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

QStringList from(const std::string& checkpoint) {
    return {"--start-from", QString::fromStdString(checkpoint)};
}

} // namespace

/// One run, however it is cut: real processes over Gloo on loopback.
class TestTrainerWorlds : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        for (const char* type : {"adamw", "sgd"}) {
            RunSpec spec = specOf(type, 8, false, false);
            TrainerRun alone;
            QCOMPARE(alone.run(spec, 1), allOk(1));
            m_alone[type] = curveOf(alone, 1);
            const auto norms = alone.series(0, metric::kTrainGradNorm);
            m_norms[type] = {norms.begin(), norms.end()};
        }
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
        QTest::newRow("2 ranks, sgd, sharded") << "sgd" << 2 << 4 << true << false;
    }

    void everyCutGivesTheSameRun() {
        QFETCH(QString, type);
        QFETCH(int, ranks);
        QFETCH(int, batchSize);
        QFETCH(bool, sharded);
        QFETCH(bool, staticGraph);
        TrainerRun run;
        QCOMPARE(run.run(specOf(type, batchSize, sharded, staticGraph), ranks), allOk(ranks));
        QString differs = difference(curveOf(run, ranks), m_alone[type], kTolerance);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
        const auto norms = run.series(ranks - 1, metric::kTrainGradNorm);
        differs = difference({norms.begin(), norms.end()}, m_norms[type], kNormTolerance);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
    }

    void unevenRanksWeighByTheirSamples() {
        RunSpec spec = specOf("adamw", 4, false, false);
        spec.train.rankBatchSizes = {3, 1};
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), allOk(2));
        const QString differs =
            difference(curveOf(run, std::vector<int64_t>{3, 1}), m_alone["adamw"], kTolerance);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
    }

    void sizesForOtherRanksAreRefused() {
        RunSpec spec = worldSpec();
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
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), allOk(2));
        const Curve curve = curveOf(run, 2);
        const QString differs = difference(curve, m_alone["sgd"], 2e-3);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
        QVERIFY(!difference(curve, m_alone["sgd"], 1e-8).isEmpty());
    }

    void anyWorldGoesOnFromACheckpoint_data() {
        QTest::addColumn<bool>("savedSharded");
        QTest::addColumn<int>("ranks");
        QTest::addColumn<bool>("sharded");
        QTest::newRow("1 rank") << false << 1 << false;
        QTest::newRow("2 ranks, now sharded") << false << 2 << true;
        QTest::newRow("4 ranks") << false << 4 << false;
        QTest::newRow("from sharded, 1 rank") << true << 1 << false;
        QTest::newRow("from sharded, 2 ranks, not sharded now") << true << 2 << false;
        QTest::newRow("from sharded, 4 ranks") << true << 4 << true;
    }

    void anyWorldGoesOnFromACheckpoint() {
        QFETCH(bool, savedSharded);
        QFETCH(int, ranks);
        QFETCH(bool, sharded);
        const TrainerRun& whole = savedByTwo(savedSharded);
        RunSpec spec = specOf("adamw", ranks == 2 ? 4 : 2, sharded, false);
        spec.train.globalBatch = 0; // the checkpoint knows
        TrainerRun resumed;
        QCOMPARE(resumed.run(spec, ranks, from(whole.checkpoint(6))), allOk(ranks));
        const Curve curve = curveOf(resumed, ranks);
        QCOMPARE(curve.begin()->first, 7);
        QCOMPARE(curve.size(), 6u);
        const QString differs = difference(curve, m_alone["adamw"], kTolerance);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
    }

    void shardedResumeIsBitEqual() {
        const TrainerRun& whole = savedByTwo(true);
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
        QCOMPARE(sizes(savedByTwo(true)), sizes(savedByTwo(false)));
    }

    void stepsThatCannotBeCutAreRefused() {
        RunSpec spec = specOf("adamw", 3, false, false);
        spec.train.globalBatch = 0;
        TrainerRun resumed;
        const int usage = static_cast<int>(ExitCode::kUsage);
        QCOMPARE(resumed.run(spec, 1, from(savedByTwo(false).checkpoint(6))),
                 std::vector<int>{usage});
        QVERIFY2(resumed.output(0).contains("steps of 8 samples as those of the checkpoint, made "
                                            "by 2 ranks: the 1 ranks take 3 at once"),
                 qPrintable(resumed.output(0)));
    }

private:
    static RunSpec specOf(const QString& type, int64_t batchSize, bool sharded, bool staticGraph) {
        RunSpec spec = worldSpec();
        spec.optimizer.type = type.toStdString();
        spec.optimizer.lr = type == "sgd" ? 0.1 : 3e-3;
        spec.optimizer.sharded = sharded;
        spec.train.batchSize = batchSize;
        spec.distribution.staticGraph = staticGraph;
        return spec;
    }

    /// A run of two ranks with a checkpoint after step 6.
    const TrainerRun& savedByTwo(bool sharded) {
        auto& saved = m_saved[sharded];
        if (saved)
            return *saved;
        saved = std::make_unique<TrainerRun>();
        RunSpec spec = specOf("adamw", 4, sharded, false);
        spec.checkpoint.every = 6;
        if (saved->run(spec, 2) != allOk(2))
            qFatal("the run to go on from failed: %s", qPrintable(saved->output(0)));
        return *saved;
    }

    std::map<QString, Curve> m_alone;
    std::map<QString, Curve> m_norms;
    std::map<bool, std::unique_ptr<TrainerRun>> m_saved;
};

QTEST_GUILESS_MAIN(TestTrainerWorlds)
#include "tst_trainer_worlds.moc"
