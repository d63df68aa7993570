// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_device.h"
#include "tests/unit/train/trained_here.h"
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
};

QTEST_GUILESS_MAIN(TestRecordedTraining)
#include "tst_recorded_training.moc"
