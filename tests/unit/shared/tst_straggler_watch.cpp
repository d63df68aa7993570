// SPDX-License-Identifier: Apache-2.0
#include "shared/metrics/straggler_watch.h"
#include "tests/unit/shared/shared_test.h"

#include <cmath>
#include <functional>
#include <random>

using namespace rm;

namespace {

constexpr int kBefore = 40; ///< steps before a rank becomes slow
constexpr int kWithin = 20; ///< steps in which it is named
constexpr double kWorkMs = 100;

using Random = std::mt19937_64;
using Noise = std::function<double(Random&)>; ///< by which a rank's work is multiplied in a step

double normal(Random& random, double spread) {
    return std::normal_distribution<double>(0, spread)(random);
}

/// A machine that does nothing else.
double quiet(Random& random) {
    return std::exp(normal(random, 0.02));
}

/// One with other work: each rank loses time in each step, now and then a multiple of its own.
double loaded(Random& random) {
    const double chance = std::uniform_real_distribution<double>(0, 1)(random);
    const double tail = std::uniform_real_distribution<double>(0.001, 1)(random);
    return std::exp(normal(random, 0.15)) + (chance < 0.1 ? 0.5 * std::pow(tail, -0.7) : 0);
}

/// Steps of ranks on which something slows rank `slow`.
class Steps {
public:
    Steps(size_t ranks, uint64_t seed, Noise noise)
        : m_ranks(ranks)
        , m_random(seed)
        , m_noise(std::move(noise)) {}

    std::vector<RankTimes> next(int slow = -1, double dataMs = 0, double computeMs = 0) {
        std::vector<RankTimes> step(m_ranks);
        double longest = 0;
        for (size_t rank = 0; rank < m_ranks; ++rank) {
            const bool isSlow = static_cast<int>(rank) == slow;
            step[rank].dataMs = 2 * m_noise(m_random) + (isSlow ? dataMs : 0);
            step[rank].computeMs = kWorkMs * m_noise(m_random) + (isSlow ? computeMs : 0);
            longest = std::max(longest, step[rank].busyMs());
        }
        for (RankTimes& rank : step) // which all end together
            rank.exposedMs = longest - rank.busyMs() + 3;
        return step;
    }

private:
    size_t m_ranks;
    Random m_random;
    Noise m_noise;
};

std::vector<RankTimes> evenStep(size_t ranks) {
    return std::vector<RankTimes>(ranks, {2, kWorkMs, 5, -1, -1});
}

} // namespace

class TestStragglerWatch : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aSlowRankIsNamedWithin20Steps_data() {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<double>("dataMs");
        QTest::addColumn<double>("computeMs");
        for (const int ranks : {2, 3, 4, 8}) {
            QTest::addRow("%d ranks, data", ranks) << ranks << 20.0 << 0.0;
            QTest::addRow("%d ranks, compute", ranks) << ranks << 0.0 << 20.0;
        }
    }
    void aSlowRankIsNamedWithin20Steps() {
        QFETCH(const int, ranks);
        QFETCH(const double, dataMs);
        QFETCH(const double, computeMs);
        for (uint64_t seed = 1; seed <= 20; ++seed) {
            StragglerWatch watch(static_cast<size_t>(ranks));
            Steps steps(static_cast<size_t>(ranks), seed, quiet);
            for (int step = 0; step < kBefore; ++step)
                QVERIFY(watch.note(steps.next()).empty());
            std::vector<StragglerWatch::Change> changes;
            for (int step = 0; step < kWithin; ++step)
                for (const auto& change : watch.note(steps.next(1, dataMs, computeMs)))
                    changes.push_back(change);
            QCOMPARE(changes.size(), size_t(1));
            QVERIFY(changes[0].begins);
            QCOMPARE(changes[0].straggler.rank, 1);
            QCOMPARE(changes[0].straggler.cause,
                     dataMs > 0 ? SlowCause::kData : SlowCause::kCompute);
            QVERIFY(std::abs(changes[0].straggler.overMs - 20) < 5);
            QCOMPARE(watch.now().size(), size_t(1));
            // It is said once, and once more when it has ended.
            changes.clear();
            for (int step = 0; step < 100; ++step)
                QVERIFY(watch.note(steps.next(1, dataMs, computeMs)).empty());
            for (int step = 0; step < kWithin; ++step)
                for (const auto& change : watch.note(steps.next()))
                    changes.push_back(change);
            QCOMPARE(changes.size(), size_t(1));
            QVERIFY(!changes[0].begins);
            QCOMPARE(changes[0].straggler.rank, 1);
            QVERIFY(watch.now().empty());
        }
    }

    /// 10,000 windows of healthy ranks. Their excesses are drawn anew in each step, as where many
    /// other processes share the processors.
    void nothingIsSaidOfEvenRanks_data() {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<bool>("isLoaded");
        for (const int ranks : {2, 3, 4, 8})
            for (const bool isLoaded : {false, true})
                QTest::addRow("%d ranks, %s", ranks, isLoaded ? "loaded" : "quiet")
                    << ranks << isLoaded;
    }
    void nothingIsSaidOfEvenRanks() {
        QFETCH(const int, ranks);
        QFETCH(const bool, isLoaded);
        constexpr size_t kWindows = 10'000 / 8; // of each row
        constexpr size_t kSteps = 50 * StragglerWatch::kRows;
        for (uint64_t seed = 1; seed <= kWindows / 50; ++seed) {
            StragglerWatch watch(static_cast<size_t>(ranks));
            Steps steps(static_cast<size_t>(ranks), seed, isLoaded ? loaded : quiet);
            for (size_t step = 0; step < kSteps; ++step) {
                const auto changes = watch.note(steps.next());
                QVERIFY2(changes.empty(),
                         changes.empty() ? "" : describe(changes.front().straggler).c_str());
            }
        }
    }

    void shortStepsAreSeenTogether() {
        StragglerWatch watch(2);
        // A rank that another process keeps from its core for 40 ms.
        std::vector<RankTimes> step = {{0, 2, 1, -1, -1}, {0, 2, 1, -1, -1}};
        for (int i = 0; i < 500; ++i)
            QVERIFY(watch.note(step).empty());
        step[1].computeMs = 4;
        for (int i = 0; i < 20; ++i)
            QVERIFY(watch.note(step).empty());
        step[1].computeMs = 2;
        for (int i = 0; i < 500; ++i)
            QVERIFY(watch.note(step).empty());
    }

    void theFirstStepsOfAnAttemptDoNotCount() {
        StragglerWatch watch(2);
        auto step = evenStep(2);
        step[1].computeMs = 10 * kWorkMs;
        for (int i = 0; i < StragglerWatch::kFirstSteps; ++i)
            QVERIFY(watch.note(step).empty());
        for (int i = 0; i < 100; ++i)
            QVERIFY(watch.note(evenStep(2)).empty());
    }

    void whatMakesNoStepLongerIsNotSlow() {
        StragglerWatch watch(3);
        std::vector<RankTimes> step = evenStep(3);
        step[1].dataMs += 20; // and computes as much faster
        step[1].computeMs -= 20;
        for (int i = 0; i < 100; ++i)
            QVERIFY(watch.note(step).empty());
        step = evenStep(3);
        for (RankTimes& rank : step) // most of the step are sums
            rank.exposedMs = 2000;
        step[1].computeMs += 20;
        for (int i = 0; i < 100; ++i)
            QVERIFY(watch.note(step).empty());
    }

    void waitingForOthersIsNotBeingSlow() {
        StragglerWatch watch(3);
        std::vector<RankTimes> step = evenStep(3);
        step[0].exposedMs = 200;
        for (int i = 0; i < 100; ++i)
            QVERIFY(watch.note(step).empty());
    }

    void twoSlowRanksAreBothNamed() {
        StragglerWatch watch(6);
        std::vector<RankTimes> step = evenStep(6);
        step[1].dataMs += 30;
        step[4].computeMs += 40;
        std::vector<StragglerWatch::Change> changes;
        for (int i = 0; i < 60; ++i)
            for (const auto& change : watch.note(step))
                changes.push_back(change);
        QCOMPARE(changes.size(), size_t(2));
        QCOMPARE(changes[0].straggler.rank, 4); // of one row, that which costs the most
        QCOMPARE(changes[1].straggler.rank, 1);
        QCOMPARE(watch.now().at(0).rank, 4); // that costs the most
        QCOMPARE(watch.now().at(1).rank, 1);
    }

    void oneRankIsNeverSlow() {
        StragglerWatch watch(1);
        for (int i = 0; i < 100; ++i)
            QVERIFY(watch.note({{100, 100, 0, -1, -1}}).empty());
    }

    void aNodeThatSendsSlowlyIsNamed() {
        StragglerWatch watch(4);
        // Two nodes of two ranks; in each the one rank sends to the other node.
        std::vector<RankTimes> step = {
            {2, 100, 40, 0, 0}, {2, 100, 40, 10, 0}, {2, 100, 40, 0, 2}, {2, 100, 40, 11, 2}};
        for (int i = 0; i < 100; ++i)
            QVERIFY(watch.note(step).empty());
        step[3].sendMs = 38;
        std::vector<StragglerWatch::Change> changes;
        for (int i = 0; i < kWithin; ++i)
            for (const auto& change : watch.note(step))
                changes.push_back(change);
        QCOMPARE(changes.size(), size_t(1));
        QCOMPARE(changes[0].straggler.cause, SlowCause::kLink);
        QCOMPARE(changes[0].straggler.rank, 2);
        QVERIFY(describe(changes[0].straggler)
                    .find("takes 38.0 ms of a step, on the median of "
                          "the other nodes 10.0 ms") != std::string::npos);
    }

    void sendingThatComputingHidesIsNotSlow() {
        StragglerWatch watch(2);
        const std::vector<RankTimes> step = {{2, 100, 1, 10, 0}, {2, 100, 1, 80, 1}};
        for (int i = 0; i < 100; ++i)
            QVERIFY(watch.note(step).empty());
    }

    void whatIsNotKnownOfALinkNamesNone() {
        StragglerWatch watch(2);
        const std::vector<RankTimes> step = {{2, 100, 60, 5, 0}, {2, 100, 60, -1, 1}};
        for (int i = 0; i < 100; ++i)
            QVERIFY(watch.note(step).empty());
    }
};

QTEST_GUILESS_MAIN(TestStragglerWatch)
#include "tst_straggler_watch.moc"
