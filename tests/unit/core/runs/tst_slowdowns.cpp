// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/slowdowns.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace rm;

namespace {

/// Steps of 100 ms on four ranks that nothing slows down.
Pace evenPace() {
    Pace pace;
    pace.ranks = 4;
    pace.steps = 40;
    pace.stepMs = 100;
    pace.dataMs = 2;
    pace.workMs = 93;
    pace.exposedMs = 5;
    pace.hasPhases = true;
    return pace;
}

std::vector<std::string> idsOf(const std::vector<Slowdown>& found) {
    std::vector<std::string> ids;
    for (const Slowdown& each : found)
        ids.push_back(each.row.id);
    return ids;
}

using Ids = std::vector<std::string>;

} // namespace

class TestSlowdowns : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatNothingSlowsIsBoundByComputing() {
        const auto found = findSlowdowns(evenPace());
        QCOMPARE(idsOf(found), Ids{"slow-compute"});
        QCOMPARE(found[0].row.state, CheckRow::State::kGood);
        QVERIFY(found[0].row.evidence.find("93 % of a step, 93 ms of 100 ms") != std::string::npos);
        QVERIFY(found[0].row.evidence.find("MFU") == std::string::npos);
        Pace pace = evenPace();
        pace.mfu = 0.38;
        QVERIFY(findSlowdowns(pace)[0].row.evidence.ends_with(
            "; the GPUs do 38 % of what they can (MFU)"));
    }

    void dataWaitsSayWhatTheyCost() {
        Pace pace = evenPace();
        pace.dataMs = 31;
        pace.workMs = 64;
        const auto found = findSlowdowns(pace);
        QCOMPARE(idsOf(found), Ids{"slow-data"});
        QCOMPARE(found[0].row.evidence,
                 std::string("data waits take 31 % of a step, 31 ms of 100 ms; without them it "
                             "would be 1.45 times as fast"));
        QVERIFY(std::abs(found[0].speedUp - 1 / 0.69) < 1e-9);
        QVERIFY(found[0].row.fix.find("data.workers, now chosen") != std::string::npos);
        pace.spec.data.workers = 3;
        QVERIFY(findSlowdowns(pace)[0].row.fix.find("data.workers, now 3") != std::string::npos);
    }

    void communicationNamesOnlyWhatCanBeSet() {
        Pace pace = evenPace();
        pace.exposedMs = 40;
        pace.workMs = 58;
        auto found = findSlowdowns(pace);
        QCOMPARE(idsOf(found), Ids{"slow-communication"});
        QVERIFY(found[0].row.fix.find("distribution.compression = \"bfloat16\" halves what "
                                      "travels: 1.25 times") != std::string::npos);
        QVERIFY(found[0].row.fix.find("train.accumulation = 2 sums half as often: 1.25 times") !=
                std::string::npos);
        pace.spec.distribution.compression = "bfloat16";
        pace.spec.train.globalBatch = 64;
        found = findSlowdowns(pace);
        QVERIFY(found[0].row.fix.find("compression") == std::string::npos);
        QVERIFY(found[0].row.fix.find("train.global_batch = 128") != std::string::npos);
        pace.ranks = 1; // nothing travels
        const Ids alone = idsOf(findSlowdowns(pace));
        QVERIFY(std::ranges::find(alone, "slow-communication") == alone.end());
    }

    void aStragglerIsNamedWithItsNode() {
        Pace pace = evenPace();
        pace.nodes = {{0, "node-a"}, {2, "node-b"}};
        pace.stragglers = {{3, SlowCause::kData, 20, 4, 120}, {2, SlowCause::kLink, 10, 5, 120}};
        const auto found = findSlowdowns(pace);
        QCOMPARE(idsOf(found), (Ids{"slow-rank", "slow-rank"}));
        QCOMPARE(found[0].rank, 3);
        QCOMPARE(found[0].row.evidence,
                 std::string("rank 3 on node-b waits 24 ms of a step for its data, the median of "
                             "the others 4.0 ms; steps are 20 % longer for it, and without that "
                             "1.20 times as fast"));
        QVERIFY(found[1].row.evidence.starts_with("the node of rank 2 on node-b sends for 15 ms"));
    }

    void whatLiesBetweenStepsIsCounted() {
        Pace pace = evenPace();
        pace.validationMs = 25;
        pace.checkpointMs = 0.5;
        auto found = findSlowdowns(pace);
        QCOMPARE(idsOf(found), Ids{"slow-validation"});
        QVERIFY(std::abs(found[0].share - 25 / 125.5) < 1e-9);
        pace.checkpointMs = 30;
        found = findSlowdowns(pace);
        QCOMPARE(idsOf(found), (Ids{"slow-checkpoints", "slow-validation"}));
    }

    void whatCostsTheMostComesFirst() {
        Pace pace = evenPace();
        pace.dataMs = 15;
        pace.exposedMs = 45;
        QCOMPARE(idsOf(findSlowdowns(pace)), (Ids{"slow-communication", "slow-data"}));
    }

    void memoryThatGrowsSteadilyIsTold() {
        Pace pace = evenPace();
        constexpr double kGiB = 1 << 30;
        pace.memory = {{0, false, 8 * kGiB, kGiB, false}, {1, false, 8 * kGiB, 0.1 * kGiB, true}};
        QCOMPARE(idsOf(findSlowdowns(pace)), Ids{"slow-compute"});
        pace.memory.push_back({2, true, 8 * kGiB, kGiB, true});
        const auto found = findSlowdowns(pace);
        QCOMPARE(idsOf(found), (Ids{"slow-compute", "slow-memory"}));
        QCOMPARE(found[1].row.evidence,
                 std::string("the GPU of rank 2 has 8.0 GiB taken, which grows steadily, by 1.0 "
                             "GiB in an hour"));
    }

    void aHotGpuIsTold() {
        Pace pace = evenPace();
        pace.hottestC = {1, 84};
        QCOMPARE(idsOf(findSlowdowns(pace)), Ids{"slow-compute"});
        pace.hottestC = {1, 91};
        QCOMPARE(idsOf(findSlowdowns(pace)), (Ids{"slow-compute", "slow-heat"}));
    }

    void whatIsAbsentIsSaidToBe() {
        QVERIFY(findSlowdowns({}).empty());
        QCOMPARE(unknownsOf({}).size(), size_t(1));
        QVERIFY(verdictLine({}).empty());
        Pace pace = evenPace();
        pace.hasPhases = false; // of a script
        pace.spec.validation.every = 0;
        pace.spec.checkpoint.every = 0;
        QVERIFY(findSlowdowns(pace).empty());
        QCOMPARE(unknownsOf(pace).size(), size_t(3)); // phases, memory, GPUs
    }

    void theVerdictIsALine() {
        Pace pace = evenPace();
        pace.dataMs = 31;
        QVERIFY(verdictLine(findSlowdowns(pace))
                    .starts_with("Waiting for data: data waits take 31 % of a step"));
    }

    void nothingIsGainedWithoutSteps() {
        QCOMPARE(speedUpWithout(0, 0), 1.0);
        QCOMPARE(speedUpWithout(100, 100), 1.0);
        QVERIFY(std::abs(speedUpWithout(100, 50) - 2) < 1e-12);
    }
};

QTEST_GUILESS_MAIN(TestSlowdowns)
#include "tst_slowdowns.moc"
