// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/hang_watch.h"

#include <QTest>

#include <random>

using namespace rm;

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

/// Ranks of a node under a clock that stands until told.
struct Fixture {
    HangWatch watch;
    int64_t nowNs = 100 * kSecondNs;
    std::vector<HangWatch::SeenRank> ranks{{2, 0, Phase::kForward, false},
                                           {3, 0, Phase::kForward, false}};
    std::vector<Event> events;

    void pass(double seconds) {
        nowNs += static_cast<int64_t>(seconds * kSecondNs);
        for (const Record& record : watch.look(ranks, {nowNs, nowNs}))
            events.push_back(std::get<Event>(record));
    }
    void train(int steps, double secondsEach) {
        for (int i = 0; i < steps; ++i) {
            for (auto& rank : ranks)
                ++rank.step;
            for (double left = secondsEach; left > 0; left -= 1)
                pass(std::min(left, 1.0));
        }
    }
    void stand(int seconds) {
        for (int i = 0; i < seconds; ++i)
            pass(1);
    }
};

} // namespace

class TestHangWatch : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aStoppedRankIsNamedWithinElevenSeconds() {
        Fixture f;
        f.train(100, 0.1);
        f.ranks[1].isStopped = true;
        f.stand(9);
        QVERIFY(f.events.empty());
        f.stand(2);
        QCOMPARE(f.events.size(), size_t(1));
        QCOMPARE(f.events[0].code, std::string("rank-hangs"));
        QCOMPARE(f.events[0].rank, 3);
        QCOMPARE(f.events[0].step, int64_t(100));
        QVERIFY(f.events[0].message.starts_with("rank 3 is stopped"));
    }

    void itIsToldOnceAndWhenItIsOver() {
        Fixture f;
        f.train(100, 0.1);
        f.stand(300);
        QCOMPARE(f.events.size(), size_t(1));
        QCOMPARE(f.events[0].rank, -1);
        f.train(3, 0.1);
        QCOMPARE(f.events.size(), size_t(2));
        QCOMPARE(f.events[1].code, std::string("rank-goes-on"));
    }

    void theRankThatIsBehindIsNamed() {
        Fixture f;
        f.train(100, 0.1);
        f.ranks[1].step += 1;
        f.stand(12);
        QCOMPARE(f.events.at(0).rank, 2);
    }

    void slowStepsAreNoHang() {
        Fixture f;
        f.train(50, 20);
        QVERIFY(f.events.empty());
        f.stand(200);
        QCOMPARE(f.events.size(), size_t(1));
    }

    void tenfoldJitterIsNoHang() {
        Fixture f;
        std::mt19937 random(7);
        std::uniform_real_distribution<double> seconds(0.9, 9.0);
        for (int i = 0; i < 2000; ++i)
            f.train(1, seconds(random));
        QVERIFY(f.events.empty());
    }

    void phasesThatTakeTheirTimeAreNoHang() {
        for (const Phase phase : {Phase::kCheckpoint, Phase::kValidation, Phase::kHeld,
                                  Phase::kStarting, Phase::kRendezvous, Phase::kEnding}) {
            Fixture f;
            f.train(100, 0.1);
            f.ranks[0].phase = phase;
            f.stand(1000);
            QVERIFY(f.events.empty());
        }
    }

    void timeInWhichThisProcessStoodDoesNotCount() {
        Fixture f;
        f.train(100, 0.1);
        f.pass(3600);
        f.stand(8);
        QVERIFY(f.events.empty());
    }

    void aFirstStepMayTakeLong() {
        Fixture f;
        f.stand(60);
        QVERIFY(f.events.empty());
    }
};

QTEST_GUILESS_MAIN(TestHangWatch)
#include "tst_hang_watch.moc"
