// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/ranks_on_threads.h"
#include "trainer/train/measure/all_reduce.h"

#include <QObject>
#include <QTest>

#include <set>

using namespace rm;
using namespace rm::test;

namespace {

using Seconds = std::chrono::duration<double>;

} // namespace

/// What is measured of sums between ranks, and for how long.
class TestAllReduce : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void pairsOfARoundShareNoNode_data() {
        QTest::addColumn<size_t>("nodes");
        QTest::addColumn<size_t>("rounds");
        QTest::newRow("two") << size_t{2} << size_t{1};
        QTest::newRow("three, one of which rests") << size_t{3} << size_t{3};
        QTest::newRow("four") << size_t{4} << size_t{3};
        QTest::newRow("seven") << size_t{7} << size_t{7};
        QTest::newRow("sixty-four") << size_t{64} << size_t{63};
    }
    void pairsOfARoundShareNoNode() {
        QFETCH(size_t, nodes);
        QFETCH(size_t, rounds);
        const auto made = roundsOfPairs(nodes);
        QCOMPARE(made.size(), rounds);
        std::set<std::pair<size_t, size_t>> all;
        for (const auto& pairs : made) {
            std::set<size_t> busy;
            for (const auto& [a, b] : pairs) {
                QVERIFY(a < b && b < nodes);
                QVERIFY(busy.insert(a).second && busy.insert(b).second);
                QVERIFY(all.insert({a, b}).second);
            }
        }
        QCOMPARE(all.size(), nodes * (nodes - 1) / 2);
    }

    void littleTimeIsNoExcuseForLatenciesAlone() {
        const SumBudget budget{Seconds(0.01), 16 << 20, Seconds(2)};
        QVERIFY(fits(budget, Seconds(0.5), 1 << 20, Seconds(0.1)));
        QVERIFY(fits(budget, Seconds(1), 16 << 20, Seconds(0.4)));
        QVERIFY(!fits(budget, Seconds(1), 16 << 20, Seconds(0.6))); // a slow link
        QVERIFY(!fits(budget, Seconds(0.5), 32 << 20, Seconds(0.1)));
        QVERIFY(fits(SumBudget{Seconds(10)}, Seconds(3), 64 << 20, Seconds(3)));
    }

    void eachPairAndAllAreMeasured() {
        constexpr int kNodes = 4;
        AllReduceReport report;
        onRanks(kNodes + 1, [&](const World& world) { // two of them on the first node
            auto mine = measureLinks(world, useCpu(1), {0, 0, 1, 2, 3}, Seconds(0.2));
            if (world.isFirst())
                report = std::move(mine);
        });
        std::vector<std::vector<int64_t>> nodes;
        for (const SumGroup& group : report.groups)
            nodes.push_back(group.nodes);
        const std::vector<std::vector<int64_t>> wanted = {{0, 1}, {0, 2}, {0, 3},      {1, 2},
                                                          {1, 3}, {2, 3}, {0, 1, 2, 3}};
        QCOMPARE(nodes, wanted);
        QCOMPARE(report.groups.back().ranks, int64_t{kNodes + 1});
        for (const SumGroup& group : report.groups)
            QVERIFY(group.times.size() >= 2);
    }
};

QTEST_GUILESS_MAIN(TestAllReduce)
#include "tst_all_reduce.moc"
