// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_device.h"
#include "tests/unit/train/trained_here.h"
#include "tests/unit/train/trainer_run.h"
#include "tests/unit/train/translation_run.h"

#include <QObject>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace rm;
using namespace rm::test;

namespace {

/// On `device`, or if null on the CPU.
Trained train(const RunSpec& spec, FakeDevice* device) {
    return trainHere(spec, [device](Session& session) {
        if (device)
            session.device.plugin = device;
        return Result<void>();
    });
}

} // namespace

/// The whole loop, with recordings that the CPU plays.
class TestRecordedTraining : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void stepsOfManyShapesAreThoseOfPlainTraining_data() {
        QTest::addColumn<int>("accumulation");
        QTest::newRow("one batch a step") << 1;
        QTest::newRow("three batches a step") << 3;
    }

    void stepsOfManyShapesAreThoseOfPlainTraining() {
        QFETCH(int, accumulation);
        const QTemporaryDir folder;
        RunSpec spec = translationSpec(folder.filePath("pairs.tsv"));
        spec.train.steps = 60;
        spec.train.accumulation = accumulation;
        spec.model.dropout = 0; // its random numbers would fall upon other positions
        spec.optimizer.lr = 1e-3;
        const Trained wanted = train(spec, nullptr);
        FakeDevice device;
        device.computes = true;
        const Trained recorded = train(spec, &device);
        QVERIFY2(device.graphs > 4, QByteArray::number(device.graphs));
        QVERIFY2(device.replays > 60, QByteArray::number(device.replays)); // more than the updates'
        for (const std::string& event : recorded.events)
            QVERIFY2(!event.starts_with("step-not-recorded"), event.c_str());
        QCOMPARE(recorded.losses.size(), wanted.losses.size());
        for (const auto& [step, loss] : wanted.losses) {
            const float off = std::abs(recorded.losses.at(step) - loss);
            QVERIFY2(off < 1e-4F, qPrintable(QString("step %1: %2").arg(step).arg(off)));
            QVERIFY(std::abs(recorded.norms.at(step) - wanted.norms.at(step)) < 1e-3F);
        }
        QVERIFY(wanted.losses.rbegin()->second < wanted.losses.begin()->second - 0.3F);
    }

    void aKnownGpuTellsItsShareOfItsPeak_data() {
        QTest::addColumn<QString>("gpu");
        QTest::addColumn<QString>("precision");
        QTest::addColumn<bool>("isTrusted");
        QTest::addColumn<double>("peak"); // 0: none is known
        const QString gpu = "NVIDIA H200", half = "bfloat16";
        QTest::newRow("known") << gpu << half << true << 989.0;
        QTest::newRow("of float32") << gpu << QString("float32") << true << 0.0;
        QTest::newRow("not trusted with it") << gpu << half << false << 0.0;
        QTest::newRow("unknown") << QString("fake") << half << true << 0.0;
    }
    void aKnownGpuTellsItsShareOfItsPeak() {
        QFETCH(const QString, gpu);
        QFETCH(const QString, precision);
        QFETCH(const bool, isTrusted);
        QFETCH(const double, peak);
        RunSpec spec = tinySpec();
        spec.train.steps = 6;
        spec.train.precision = precision.toStdString();
        FakeDevice device;
        device.computes = true;
        device.name = gpu.toStdString();
        device.hasBFloat16 = isTrusted;
        Trained trained = train(spec, &device);
        const auto& tflops = trained.samples[metric::kTrainTflops];
        const auto& mfu = trained.samples[metric::kTrainMfu];
        QCOMPARE(tflops.size(), size_t(6));
        QCOMPARE(mfu.size(), peak > 0 ? tflops.size() : size_t(0));
        for (const auto& [step, share] : mfu)
            QVERIFY(share > 0 &&
                    std::abs(static_cast<double>(share) * peak / tflops.at(step) - 1) < 1e-5);
    }
};

QTEST_GUILESS_MAIN(TestRecordedTraining)
#include "tst_recorded_training.moc"
