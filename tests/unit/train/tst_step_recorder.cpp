// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_device.h"
#include "trainer/train/device/device.h"
#include "trainer/train/loop/step_recorder.h"

#include <QTest>

#include <ATen/ops/full.h>

using namespace rm;

namespace {

Batch batchOf(int64_t size, double value) {
    return {{at::full({size}, value, at::kFloat)}, size};
}

} // namespace

class TestStepRecorder : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_device = FakeDevice();
        m_seen.clear();
        m_obstacles.clear();
        m_updates = m_replays = 0;
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

    void changingShapesAreGivenUp() {
        const auto recorder = make();
        for (int step = 1; step <= 10; ++step)
            recorder->gradients({batchOf(step, step)}, step);
        QCOMPARE(m_seen.size(), size_t{10}); // every step was computed
        QCOMPARE(m_obstacles, (std::vector<std::string>{"batches have different shapes at 5"}));
    }

    void otherTargetsAreAnotherShape() {
        const auto recorder = make();
        for (int step = 1; step <= 4; ++step)
            recorder->gradients({batchOf(3, step)}, step);
        QCOMPARE(m_seen.size(), size_t{2});
        Batch fewer = batchOf(3, 5);
        fewer.targets = 2;
        recorder->gradients({fewer}, 5);
        QCOMPARE(m_seen.size(), size_t{3});
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
        QVERIFY(!StepRecorder::make(m_device, false, work()));
        QCOMPARE(m_obstacles, (std::vector<std::string>{"several ranks share a step at 0"}));
    }

    void cpuHasNothingToRecord() {
        QVERIFY(!StepRecorder::make(*useCpu(1).plugin, true, work()));
        QVERIFY(m_obstacles.empty());
    }

private:
    StepRecorder::Work work() {
        return {[this](const std::vector<Batch>& batches) {
                    m_input = batches[0].tensors[0][0];
                    m_seen.push_back(m_input.item<float>());
                    return m_input.clone();
                },
                [this] {
                    ++m_updates;
                    return at::full({}, 1.0, at::kFloat);
                },
                [this] { ++m_replays; },
                [this](const std::string& why, int64_t step) {
                    m_obstacles.push_back(why + " at " + std::to_string(step));
                }};
    }
    std::unique_ptr<StepRecorder> make() { return StepRecorder::make(m_device, true, work()); }

    FakeDevice m_device;
    at::Tensor m_input; ///< a view of what the recording reads
    std::vector<float> m_seen;
    std::vector<std::string> m_obstacles;
    int m_updates = 0;
    int m_replays = 0;
};

QTEST_GUILESS_MAIN(TestStepRecorder)
#include "tst_step_recorder.moc"
