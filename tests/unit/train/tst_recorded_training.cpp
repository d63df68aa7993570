// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/journal.h"
#include "shared/journal/segment.h"
#include "tests/support/fake_device.h"
#include "tests/unit/train/translation_run.h"
#include "trainer/train/loop/train_loop.h"

#include <QFile>
#include <QObject>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <map>

using namespace rm;
using namespace rm::test;

namespace {

struct Trained {
    std::map<int64_t, float> losses; ///< by step
    std::map<int64_t, float> norms;
    std::vector<std::string> events;
};

Trained readRun(const std::string& folder) {
    Trained trained;
    const auto records = readSegments(folder, rankName(0));
    if (!records)
        qFatal("%s", records.error().message.c_str());
    for (const Record& record : *records) {
        if (const auto* event = std::get_if<Event>(&record))
            trained.events.push_back(event->code + ": " + event->message);
        const auto* samples = std::get_if<Samples>(&record);
        for (size_t i = 0; samples && i < samples->metric.size(); ++i) {
            if (samples->metric[i] == metric::kTrainLoss)
                trained.losses[samples->step] = samples->value[i];
            if (samples->metric[i] == metric::kTrainGradNorm)
                trained.norms[samples->step] = samples->value[i];
        }
    }
    return trained;
}

/// Trains in this process, alone; on `device`, or if null on the CPU.
Trained train(const RunSpec& spec, FakeDevice* device) {
    const QTemporaryDir folder;
    QFile file(folder.filePath("spec.toml"));
    if (!file.open(QIODevice::WriteOnly) || file.write(toToml(spec).c_str()) < 0)
        qFatal("cannot write %s", qPrintable(file.fileName()));
    file.close();
    Options options;
    options.spec = file.fileName().toStdString();
    options.runDir = folder.path().toStdString();
    auto session = openSession(options, {});
    if (!session)
        qFatal("%s", session.error().message.c_str());
    if (device)
        session->device.plugin = device;
    session->world = *World::join(session->environment, session->device); // alone: cannot fail
    {
        const auto loop = TrainLoop::create(*session);
        if (!loop)
            qFatal("%s", loop.error().message.c_str());
        const auto ending = (*loop)->run();
        if (!ending || ending->code != ExitCode::kOk)
            qFatal("the run failed");
    }
    session->telemetry->flush();
    return readRun(session->runDir + "/journal");
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
