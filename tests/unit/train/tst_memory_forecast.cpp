// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"
#include "shared/io/free_memory.h"
#include "trainer/train/memory/batch_search.h"
#include "trainer/train/memory/rehearsal.h"
#include "trainer/train/workloads/registry.h"

#include <QObject>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace rm;

namespace {

constexpr int64_t kMiB = 1 << 20;

constexpr int64_t kBlock = 10000;
constexpr int64_t kLargestConvolution = 512 * 512 * 3 * 3 * sizeof(float); ///< of a ResNet-18

/// A step of a model of two layers: activations in proportion to the samples, gradients that are as
/// large always and come as the activations go.
MemoryTrace toyStep(int64_t samples) {
    const int64_t activation = samples * kBlock;
    const int64_t gradient = 10 * kBlock;
    return {activation,  activation, activation / 2, -activation / 2,     gradient,
            -activation, gradient,   -activation,    -gradient - gradient};
}

/// A toy step whose loss goes over chunks of 4 samples.
MemoryTrace loopStep(int64_t samples) {
    MemoryTrace trace = toyStep(samples);
    const MemoryTrace chunk = {30 * kBlock, 20 * kBlock, -50 * kBlock};
    for (int64_t i = 0; i < samples / 4; ++i)
        trace.insert(trace.begin() + 4, chunk.begin(), chunk.end());
    return trace;
}

int64_t peakOf(const MemoryTrace& trace) {
    int64_t level = 0;
    int64_t peak = 0;
    for (const int64_t change : trace) {
        level += change;
        peak = std::max(peak, level);
    }
    return peak;
}

RunSpec gptSpec() {
    RunSpec spec;
    spec.model.layers = 2;
    spec.model.heads = 2;
    spec.model.width = 32;
    spec.model.context = 64;
    spec.launch.device = "cpu";
    return spec;
}

std::string write(const QTemporaryDir& dir, const char* name, const char* text) {
    const std::string path = dir.filePath(name).toStdString();
    static_cast<void>(makeFolders(path.substr(0, path.rfind('/'))));
    static_cast<void>(writeFileAtomically(path, text));
    return path;
}

RunSpec specOfRow() {
    QFETCH(QString, model);
    QFETCH(QString, precision);
    QFETCH(bool, again);
    RunSpec spec = gptSpec();
    spec.model.type = model.toStdString();
    spec.model.imageSize = 32;
    spec.train.precision = precision.toStdString();
    spec.train.activationCheckpointing = again;
    return spec;
}

} // namespace

class TestMemoryForecast : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void peakMovesFromGradientsToActivations() {
        const PeakLine line(toyStep(2), 2, toyStep(4), 4);
        for (const int64_t samples : {1, 2, 3, 4, 40, 4000})
            QCOMPARE(line.at(samples), peakOf(toyStep(samples)));
    }

    void loopThatGoesOnForLongerIsFollowed() {
        const PeakLine line(loopStep(8), 8, loopStep(16), 16);
        for (const int64_t samples : {8, 16, 64, 4000})
            QCOMPARE(line.at(samples), peakOf(loopStep(samples)));
    }

    void stepWithFewTellsOfOneWithMany_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("vocab");
        QTest::addColumn<QString>("precision");
        QTest::addColumn<bool>("again");
        QTest::newRow("gpt") << "gpt" << 64 << "float32" << false;
        QTest::newRow("gpt, activations computed again") << "gpt" << 64 << "float32" << true;
        QTest::newRow("gpt, bfloat16") << "gpt" << 64 << "bfloat16" << false;
        QTest::newRow("gpt, loss in many chunks") << "gpt" << 16384 << "float32" << false;
        QTest::newRow("llama") << "llama" << 64 << "float32" << false;
        QTest::newRow("llama, activations computed again") << "llama" << 64 << "float32" << true;
        QTest::newRow("llama, bfloat16") << "llama" << 64 << "bfloat16" << false;
        QTest::newRow("translation") << "translation" << 64 << "float32" << false;
        QTest::newRow("resnet18") << "resnet18" << 0 << "float32" << false;
        QTest::newRow("resnet18, activations computed again")
            << "resnet18" << 0 << "float32" << true;
    }

    void stepWithFewTellsOfOneWithMany() {
        QFETCH(int, vocab);
        const RunSpec spec = specOfRow();
        Rehearsal rehearsal(spec, {vocab, 10, ""}, 1, useCpu(1), RehearsedWork::kDone);
        const PeakLine line(rehearsal.step(4), 4, rehearsal.step(8), 8);
        const int64_t estimated = line.at(40);
        const int64_t seen = peakOf(rehearsal.step(40));
        const QString figures = QString("told %1, seen %2").arg(estimated).arg(seen);
        qInfo("%s", qPrintable(figures));
        QVERIFY2(std::abs(estimated - seen) < seen / 10, qPrintable(figures));
    }

    void skippedStepAllocatesAsOneThatIsDone_data() { stepWithFewTellsOfOneWithMany_data(); }

    /// But for what oneDNN has for itself in the middle of a product: on a processor without
    /// AVX-512 two more copies of a convolution's weight.
    void skippedStepAllocatesAsOneThatIsDone() {
        QFETCH(int, vocab);
        const RunSpec spec = specOfRow();
        for (const int ranks : {1, 2}) {
            const auto peak = [&](RehearsedWork work) {
                Rehearsal rehearsal(spec, {vocab, 10, ""}, ranks, useCpu(1), work);
                const int64_t step = peakOf(rehearsal.step(40));
                return rehearsal.restBytes() + step;
            };
            const int64_t estimated = peak(RehearsedWork::kSkipped);
            const int64_t seen = peak(RehearsedWork::kDone);
            const QString figures =
                QString("%1 ranks: told %2, seen %3").arg(ranks).arg(estimated).arg(seen);
            qInfo("%s", qPrintable(figures));
            const int64_t copies = spec.model.type == "resnet18" ? 2 * kLargestConvolution : 0;
            QVERIFY2(std::abs(estimated - seen) < seen / 25 + copies, qPrintable(figures));
        }
    }

    /// Far beyond what any machine has, and at once: nothing of it is computed or written to.
    void modelLargerThanAnyMemoryIsRehearsed() {
        RunSpec spec = gptSpec();
        spec.model.layers = 48;
        spec.model.width = 32768;
        spec.model.context = 2048;
        Rehearsal rehearsal(spec, {50000, 0, ""}, 2, useCpu(1), RehearsedWork::kSkipped);
        QVERIFY(rehearsal.weightBytes() > int64_t{2} << 40);
        const int64_t before = heapBytes();
        QVERIFY(peakOf(rehearsal.step(4)) > int64_t{100} << 30);
        QVERIFY(heapBytes() - before < 256 * kMiB);
    }

    void greatestBatchIsTheLastThatFits() {
        const auto forecast = MemoryForecast::make(gptSpec(), {64, 0, ""}, 2, useCpu(1), 8);
        const int64_t bytes = forecast.at(20).total();
        QCOMPARE(forecast.greatest(bytes, 1000), 20);
        QCOMPARE(forecast.greatest(bytes - 1, 1000), 19);
        QCOMPARE(forecast.greatest(bytes, 7), 7);
        QCOMPARE(forecast.greatest(1, 1000), 0);
    }

    void adviceNamesABatchThatFits() {
        RunSpec spec = gptSpec();
        spec.train.batchSize = 1048576;
        const QString advice = QString::fromStdString(memoryAdvice(spec, 2, 2, useCpu(1)));
        const QRegularExpression said("needs about .*iB a rank, .*iB are free; "
                                      "train.batch_size = (\\d+) would fit");
        const auto match = said.match(advice);
        QVERIFY2(match.hasMatch(), qPrintable(advice));
        QVERIFY(match.captured(1).toLongLong() < spec.train.batchSize);
    }

    void shardedStateIsEveryRanksShare() {
        RunSpec spec = gptSpec();
        const auto whole = MemoryForecast::make(spec, {64, 0, ""}, 4, useCpu(1), 2).at(2);
        spec.optimizer.sharded = true;
        const auto share = MemoryForecast::make(spec, {64, 0, ""}, 4, useCpu(1), 2).at(2);
        QCOMPARE(whole.optimizer, 2 * whole.weights);
        QVERIFY(share.optimizer >= whole.optimizer / 4 &&
                share.optimizer < whole.optimizer / 4 + 1024);
    }

    void memoryOfAGroupIsLess_data() {
        QTest::addColumn<QString>("group");
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("limit");
        QTest::addColumn<QString>("usage");
        QTest::newRow("version 1") << "4:memory:/job/7\n0::/\n"
                                   << "memory/job/"
                                   << "memory.limit_in_bytes"
                                   << "memory.usage_in_bytes";
        QTest::newRow("version 2") << "0::/job/7\n"
                                   << "job/"
                                   << "memory.max"
                                   << "memory.current";
        QTest::newRow("seen from within") << "0::/\n"
                                          << ""
                                          << "memory.max"
                                          << "memory.current";
    }

    void memoryOfAGroupIsLess() {
        QFETCH(QString, group);
        QFETCH(QString, folder);
        QFETCH(QString, limit);
        QFETCH(QString, usage);
        const QTemporaryDir dir;
        const std::string root = dir.path().toStdString();
        const auto put = [&](const QString& name, const char* text) {
            write(dir, qPrintable("sys/fs/cgroup/" + folder + name), text);
        };
        write(dir, "proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8192 kB\n");
        QCOMPARE(freeHostBytes(root), 8 * kMiB);
        write(dir, "proc/self/cgroup", qPrintable(group));
        QCOMPARE(freeHostBytes(root), 8 * kMiB);
        put(limit, "max\n");
        put(usage, "3145728\n");
        QCOMPARE(freeHostBytes(root), 8 * kMiB);
        put(limit, "5242880\n");
        QCOMPARE(freeHostBytes(root), 2 * kMiB);
        put("memory.stat", "anon 1\ninactive_file 1048576\n");
        QCOMPARE(freeHostBytes(root), 3 * kMiB);
    }

    void thisMachineHasMemory() {
        QVERIFY(freeHostBytes() > kMiB);
        QVERIFY(programBytes() > kMiB && heapBytes() > kMiB);
    }

    void classesThatNobodyCanCountAreNamed() {
        RunSpec spec = gptSpec();
        spec.model.type = "resnet50";
        spec.data.train = {"/no/such/pictures"};
        const auto sizes = workloadOf(spec).dataSizes(spec);
        QVERIFY(!sizes);
        const QString message = QString::fromStdString(sizes.error().message);
        QVERIFY2(message.contains("/no/such/pictures") && message.contains("model.classes"),
                 qPrintable(message));
        spec.model.classes = 7;
        QCOMPARE(workloadOf(spec).dataSizes(spec)->classes, 7);
    }
};

QTEST_GUILESS_MAIN(TestMemoryForecast)
#include "tst_memory_forecast.moc"
