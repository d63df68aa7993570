// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_device.h"
#include "trainer/train/device/device.h"
#include "trainer/train/loop/graphed_step.h"

#include <QTest>

#include <ATen/ops/full.h>

using namespace rm;

namespace {

Batch batchOf(int64_t size, double value) {
    return {{at::full({size}, value, at::kFloat)}, size};
}

} // namespace

class TestGraphedStep : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_device = FakeDevice();
        m_seen.clear();
        m_weights.clear();
        m_inPlace.clear();
        m_laps.clear();
        m_obstacles.clear();
        m_targets.reset();
        m_updates = m_replays = m_failures = 0;
    }

    void theRecordingReadsTheBatchOfEachStep() {
        const auto recorder = make();
        for (int step = 1; step <= 5; ++step)
            QCOMPARE(recorder->gradients({batchOf(3, step)}, step).item<float>(),
                     step <= 2 ? float(step) : 2.0F); // the fake computes nothing any more
        QCOMPARE(m_seen, (std::vector<float>{1, 2}));
        QCOMPARE(m_replays, 3);
        QCOMPARE(m_input.item<float>(), 5.0F); // but has the last batch before it
    }

    void updateWaitsForRecordedGradients() {
        const auto recorder = make();
        for (int step = 1; step <= 6; ++step) {
            recorder->gradients({batchOf(3, step)}, step);
            recorder->update(1.0, step);
        }
        QCOMPARE(m_updates, 2 + FakeDevice::kWarmUps); // steps 5 and 6 replay it
        QCOMPARE(m_device.replays, 4 + 2);
    }

    void anotherSettingIsRecordedAnew() {
        const auto recorder = make();
        int64_t step = 0;
        const auto run = [&](int steps, double clip) {
            for (int i = 0; i < steps; ++i) {
                recorder->gradients({batchOf(3, 0)}, ++step);
                recorder->update(clip, step);
            }
        };
        run(6, 1.0);
        const int before = m_updates;
        run(FakeDevice::kWarmUps + 1, 0.5);
        QCOMPARE(m_updates, before + FakeDevice::kWarmUps);
    }

    void everyShapeHasARecordingThatStays() {
        const auto recorder = make();
        int64_t step = 0;
        for (int round = 1; round <= 4; ++round)
            for (const int64_t size : {3, 5})
                QCOMPARE(recorder->gradients({batchOf(size, round)}, ++step).item<float>(),
                         float(std::min(round, FakeDevice::kWarmUps)));
        QCOMPARE(m_seen, (std::vector<float>{1, 1, 2, 2}));
        QCOMPARE(m_replays, 4);
        QCOMPARE(m_device.graphs, 2);
        QVERIFY(m_obstacles.empty());
    }

    void oneUpdateServesAllShapes() {
        const auto recorder = make();
        int64_t step = 0;
        for (int round = 1; round <= 5; ++round)
            for (const int64_t size : {3, 5, 7}) {
                recorder->gradients({batchOf(size, round)}, ++step);
                recorder->update(1.0, step);
            }
        QCOMPARE(m_device.graphs, 3 + 1);
        // As written until the first shape is recorded, then until the update is.
        QCOMPARE(m_updates, 2 * 3 + FakeDevice::kWarmUps);
    }

    void gradientsStayWhereTheFirstRecordingHasThem() {
        const auto recorder = make();
        for (int step = 1; step <= 3; ++step)
            recorder->gradients({batchOf(3, step)}, step);
        QCOMPARE(m_inPlace, (std::vector<bool>{false, false}));
        recorder->gradients({batchOf(5, 4)}, 4);
        QCOMPARE(m_inPlace.back(), true);
    }

    void furtherShapesRunAsTheyAreWritten() {
        constexpr auto kShapes = static_cast<int64_t>(GraphedStep::kMostShapes);
        const auto recorder = make();
        int64_t step = 0;
        for (int round = 1; round <= 3; ++round)
            for (int64_t size = 1; size <= kShapes + 2; ++size)
                recorder->gradients({batchOf(size, round)}, ++step);
        QCOMPARE(m_device.graphs, int(kShapes));
        QCOMPARE(m_replays, int(kShapes)); // in the third round, the others do not hinder them
        QCOMPARE(m_seen.size(), size_t(2 * kShapes + 3 * 2));
        QCOMPARE(m_obstacles, (std::vector<std::string>{"batches have more than 64 shapes at 65"}));
    }

    void targetsAreNoPartOfTheShape() {
        const auto recorder = make();
        for (int step = 1; step <= 4; ++step) {
            Batch batch = batchOf(3, step);
            batch.targets = step;
            recorder->gradients({batch}, step);
        }
        QCOMPARE(m_seen.size(), size_t{FakeDevice::kWarmUps});
    }

    void batchesOfAStepAreRecordedEachForItself() {
        const auto recorder = make();
        const auto stepOf = [](int64_t first, int64_t second) {
            return std::vector<Batch>{batchOf(first, double(first)),
                                      batchOf(second, double(second))};
        };
        // Mean over 3 targets of loss 3 and 5 of loss 5.
        m_targets = 8;
        QCOMPARE(recorder->gradients(stepOf(3, 5), 1).item<float>(), (9.0F + 25.0F) / 8.0F);
        QCOMPARE(m_weights, (std::vector<float>{3.0F / 8.0F, 5.0F / 8.0F}));
        QCOMPARE(m_inPlace, (std::vector<bool>{true}));
        recorder->gradients(stepOf(5, 3), 2);
        m_targets = 6;
        QCOMPARE(recorder->gradients(stepOf(3, 3), 3).item<float>(), 3.0F);
        QCOMPARE(m_device.graphs, 2);
        QCOMPARE(m_replays, 2);                // both of the third step
        QCOMPARE(m_inPlace.size(), size_t{3}); // outside of the recordings
    }

    void scarceMemoryEndsRecordingButNotTheRun() {
        const auto recorder = make();
        for (int step = 1; step <= 3; ++step)
            recorder->gradients({batchOf(3, step)}, step);
        QCOMPARE(m_replays, 1);
        m_failures = 1;
        QCOMPARE(recorder->gradients({batchOf(5, 4)}, 4).item<float>(), 4.0F);
        recorder->update(1.0, 4);
        QCOMPARE(recorder->gradients({batchOf(3, 5)}, 5).item<float>(), 5.0F);
        QCOMPARE(m_replays, 1);
        QCOMPARE(m_updates, 1);
        QCOMPARE(m_obstacles,
                 (std::vector<std::string>{"memory ran out beside the recordings at 4"}));
        m_failures = 1;
        QVERIFY_EXCEPTION_THROWN(recorder->gradients({batchOf(5, 6)}, 6), c10::OutOfMemoryError);
    }

    void lapsGoWithTheirRecording() {
        const auto recorder = make();
        int64_t step = 0;
        for (int round = 1; round <= 5; ++round)
            for (const int64_t size : {3, 5}) {
                m_recorded = round == 3 ? std::make_shared<const int64_t>(size) : nullptr;
                recorder->gradients({batchOf(size, round)}, ++step);
            }
        QCOMPARE(m_laps, (std::vector<int64_t>{3, 5, 3, 5, 3, 5}));
    }

    void brokenRecordingIsToldOnceAndStepsGoOn() {
        m_device.obstacle = "it waits";
        const auto recorder = make();
        for (int step = 1; step <= 6; ++step) {
            recorder->gradients({batchOf(3, step)}, step);
            recorder->update(1.0, step);
        }
        QCOMPARE(m_seen.size(), size_t{6});
        QCOMPARE(m_updates, 6);
        QCOMPARE(m_replays, 0);
        QCOMPARE(m_obstacles, (std::vector<std::string>{"it waits at 3"}));
    }

    void severalRanksAreAnObstacle() {
        QVERIFY(!GraphedStep::make(m_device, false, work()));
        QCOMPARE(m_obstacles, (std::vector<std::string>{"several ranks share a step at 0"}));
    }

    void cpuHasNothingToRecord() {
        QVERIFY(!GraphedStep::make(*useCpu(1).plugin, true, work()));
        QVERIFY(m_obstacles.empty());
    }

private:
    GraphedStep::Work work() {
        GraphedStep::Work work;
        work.begin = [this](bool inPlace) { m_inPlace.push_back(inPlace); };
        work.weight = [this](const Batch& batch) {
            return double(batch.targets) / double(m_targets.value_or(batch.targets));
        };
        work.add = [this](const Batch& batch, const at::Tensor& weight) {
            if (m_failures > 0 && m_failures--)
                C10_THROW_ERROR(OutOfMemoryError, "full");
            m_input = batch.tensors[0][0];
            m_seen.push_back(m_input.item<float>());
            m_weights.push_back(weight.item<float>());
            return m_input.clone();
        };
        work.update = [this] {
            ++m_updates;
            return at::full({}, 1.0, at::kFloat);
        };
        work.takeLaps = [this] { return std::exchange(m_recorded, nullptr); };
        work.onReplay = [this](const RecordedLaps& laps) {
            ++m_replays;
            if (laps)
                m_laps.push_back(*static_cast<const int64_t*>(laps.get()));
        };
        work.onObstacle = [this](const std::string& why, int64_t step) {
            m_obstacles.push_back(why + " at " + std::to_string(step));
        };
        return work;
    }
    std::unique_ptr<GraphedStep> make() { return GraphedStep::make(m_device, true, work()); }

    FakeDevice m_device;
    at::Tensor m_input; ///< a view of what the recording reads
    std::vector<float> m_seen, m_weights;
    std::vector<bool> m_inPlace;
    RecordedLaps m_recorded;
    std::vector<int64_t> m_laps;
    std::vector<std::string> m_obstacles;
    std::optional<int64_t> m_targets; ///< of a step; nullopt: of its only batch
    int m_failures = 0;               ///< steps to come for which there is no memory
    int m_updates = 0;
    int m_replays = 0;
};

QTEST_GUILESS_MAIN(TestGraphedStep)
#include "tst_graphed_step.moc"
