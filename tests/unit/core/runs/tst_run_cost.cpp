// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_cost.h"
#include "tests/unit/core/store/store_fixture.h"

#include <QTest>

#include <cmath>

using namespace rm;

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStart = 1'700'000'000 * kSecond;
constexpr int64_t kHour = 3600 * kSecond;

Node priced(const std::string& name, double price) {
    Node node;
    node.name = name;
    node.pricePerHour = price;
    return node;
}

/// Steps of 10 s on two nodes of two GPUs that draw so many watts each, until the attempt ends.
void trainTwoNodes(StoreFixture& store, int attempt, int64_t startStep, int64_t lastStep,
                   int64_t fromNs, float watts) {
    for (const int node : {0, 1}) {
        std::vector<Record> records;
        for (const int rank : {2 * node, 2 * node + 1})
            records.push_back(AttemptStarted{attempt, rank, 4, startStep, fromNs, {}});
        for (int64_t step = startStep + 1; step <= lastStep; ++step)
            for (const int rank : {2 * node, 2 * node + 1})
                records.push_back(Samples{rank,
                                          step,
                                          fromNs + (step - startStep) * 10 * kSecond,
                                          {metric::kTrainLoss, metric::kGpuPowerW},
                                          {1.0F, watts}});
        records.push_back(AttemptEnded{
            attempt, Outcome::kPaused, -1, 0, fromNs + (lastStep - startStep) * 10 * kSecond, {}});
        store.ingest("a", std::move(records), node);
    }
}

bool isAbout(double value, double wanted) {
    return std::abs(value - wanted) < 1e-6 * wanted;
}

} // namespace

class TestRunCost : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatWasSetAsideCountsAndAPauseDoesNot() {
        StoreFixture store;
        store.createRun("a", "a", 2);
        trainTwoNodes(store, 1, 0, 360, kStart, 500); // one hour
        // Half of it is done again after a night, in half an hour.
        trainTwoNodes(store, 2, 180, 360, kStart + 9 * kHour, 250);
        const RunSummary run = *store.reader().run("a");
        const RunCost cost =
            readCost(store.reader(), run, {priced("node-a", 2), priced("node-b", 3)}, 0);
        QVERIFY(isAbout(cost.hours, 1.5));
        QVERIFY(isAbout(cost.rankHours, 6));
        QVERIFY(cost.isOnGpus);
        QVERIFY(cost.kWh && isAbout(*cost.kWh, 4 * (0.5 + 0.125)));
        QVERIFY(cost.price && isAbout(*cost.price, 1.5 * 5));
        QVERIFY(cost.unpriced.empty());
        QCOMPARE(costWords(cost), std::string("1.50 h, 6.00 GPU-hours, 2.50 kWh of its GPUs, 7.50 "
                                              "at the prices of its nodes"));
    }

    void whatIsNotKnownIsNotCounted() {
        StoreFixture store;
        store.createRun("a", "a", 2);
        store.ingest("a", {AttemptStarted{1, 0, 4, 0, kStart, {}},
                           Samples{0, 1, kStart + kHour / 2, {metric::kTrainLoss}, {1.0F}}});
        const RunSummary run = *store.reader().run("a");
        const auto costAt = [&](const std::vector<Node>& nodes) {
            return readCost(store.reader(), run, nodes, kStart + kHour / 2); // it trains
        };
        QVERIFY(isAbout(costAt({}).hours, 0.5));
        QVERIFY(!costAt({}).kWh && !costAt({}).price && !costAt({}).isOnGpus);
        QCOMPARE(costWords(costAt({})), std::string("0.50 h, 2.00 rank-hours"));
        const RunCost part = costAt({priced("node-b", 4), priced("node-a", 0)});
        QVERIFY(part.price && isAbout(*part.price, 2));
        QCOMPARE(part.unpriced, std::vector<std::string>{"node-a"});
        QVERIFY(costWords(part).ends_with("(nodes without a price: 1, such as node-a)"));
    }

    /// Nobody knows when the first attempt ended, and later edits of the run say nothing of it.
    void anAttemptWithoutAnEndLastsToItsLastStep() {
        StoreFixture store;
        store.createRun("a", "a", 1, 1);
        store.ingest("a", {AttemptStarted{1, 0, 1, 0, kStart, {}},
                           Samples{0, 1, kStart + kHour / 2, {metric::kTrainLoss}, {1.0F}},
                           Samples{0, 2, kStart + kHour, {metric::kTrainLoss}, {1.0F}}});
        store.ingest("a", {AttemptStarted{2, 0, 1, 2, kStart + 9 * kHour, {}},
                           Samples{0, 3, kStart + 10 * kHour, {metric::kTrainLoss}, {1.0F}}});
        RunSummary run = *store.reader().run("a");
        const auto hoursAt = [&](int64_t nowNs) {
            return readCost(store.reader(), run, {}, nowNs).hours;
        };
        QVERIFY(isAbout(hoursAt(kStart + 10 * kHour + 36 * kSecond), 1 + 1.01)); // it trains
        QVERIFY(isAbout(hoursAt(kStart + 99 * kHour), 1 + 1)); // nothing was heard of it since
        run.state = RunStateKind::kFailed; // as is concluded of a node that is gone
        run.updatedNs = kStart + 99 * kHour;
        QVERIFY(isAbout(readCost(store.reader(), run, {}, kStart + 99 * kHour).hours, 1 + 1));
    }

    /// Its nodes were gone, and a person said so a week later.
    void anAttemptThatIsDeclaredLostLastsUntilItWasHeardOf() {
        StoreFixture store;
        store.createRun("a", "a", 1, 1);
        store.ingest("a", {AttemptStarted{1, 0, 1, 0, kStart, {}},
                           Samples{0, 1, kStart + kHour, {metric::kTrainLoss}, {1.0F}},
                           AttemptEnded{1, Outcome::kFailed, 0, 1, kStart + 169 * kHour, {}}});
        const RunCost cost = readCost(store.reader(), *store.reader().run("a"), {}, kStart);
        QVERIFY2(isAbout(cost.hours, 1), qPrintable(QString::number(cost.hours)));
    }

    void littleIsNotRoundedToNothing() {
        RunCost cost;
        cost.hours = 0.0041666;
        cost.rankHours = 12;
        cost.price = 0.0016;
        QCOMPARE(costWords(cost),
                 std::string("0.0042 h, 12.00 rank-hours, 0.0016 at the prices of its nodes"));
    }

    void whatNeverTrainedHasUsedNothing() {
        StoreFixture store;
        store.createRun("a");
        const RunCost cost =
            readCost(store.reader(), *store.reader().run("a"), {priced("node-a", 2)}, kStart);
        QCOMPARE(cost.hours, 0.0);
        QCOMPARE(costWords(cost), std::string());
    }

    /// An agent that was not there for a while told of no power, and what it was is not guessed.
    void aGapIsNotFilled() {
        StoreFixture store;
        store.createRun("a", "a", 1, 1);
        std::vector<Record> records{AttemptStarted{1, 0, 1, 0, kStart, {}}};
        for (const int64_t second : {10, 20, 30, 3000, 3010})
            records.push_back(
                Samples{0, second / 10, kStart + second * kSecond, {metric::kGpuPowerW}, {360.0F}});
        records.push_back(lossAt(301, 1));
        store.ingest("a", std::move(records));
        const RunCost cost = readCost(store.reader(), *store.reader().run("a"), {}, kStart + kHour);
        // 10, 20, 30 and 3010 stand for 10 s each.
        QVERIFY(cost.kWh && isAbout(*cost.kWh, 4 * 10 * 360 / 3.6e6));
    }

    /// Also where many samples are read as one.
    void aGapIsNotFilledInALongRun() {
        StoreFixture store;
        store.createRun("a", "a", 1, 1);
        std::vector<Record> records{AttemptStarted{1, 0, 1, 0, kStart, {}}};
        constexpr int kSamples = 10'000, kGap = 5'000; // seconds
        for (int i = 1; i <= kSamples; ++i)
            records.push_back(Samples{0,
                                      i,
                                      kStart + (i > kSamples / 2 ? i + kGap : i) * kSecond,
                                      {metric::kTrainLoss, metric::kGpuPowerW},
                                      {1.0F, 360.0F}});
        store.ingest("a", std::move(records));
        const RunCost cost = readCost(store.reader(), *store.reader().run("a"), {}, kStart + kHour);
        QVERIFY2(cost.kWh && std::abs(*cost.kWh - kSamples * 360 / 3.6e6) < 0.01,
                 qPrintable(QString::number(cost.kWh.value_or(-1))));
    }
};

QTEST_GUILESS_MAIN(TestRunCost)
#include "tst_run_cost.moc"
