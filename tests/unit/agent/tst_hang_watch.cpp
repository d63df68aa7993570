// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/hang_watch.h"

#include <QTest>

#include <random>

using namespace rm;

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

/// Ranks of a node under a clock that stands until told.
struct Fixture {
    HangWatch watch{"node-b"};
    int64_t nowNs = 100 * kSecondNs;
    std::vector<SeenRank> ranks{{2, 0, Phase::kForward, false}, {3, 0, Phase::kForward, false}};
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
    /// The rank is in its collective `number` of the main group, or has ended it.
    void put(size_t index, uint64_t number, bool isWaiting) {
        ranks[index].main = {.begun = number,
                             .ended = number - (isWaiting ? 1 : 0),
                             .endsAreKnown = true,
                             .kind = CollectiveKind::kAllReduce,
                             .bytes = 25 << 20};
        ranks[index].side = {.begun = 7, .ended = 7, .endsAreKnown = true};
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
    void whoWaitsInAValidationDoesNothingThatTakesLong() {
        Fixture f;
        f.put(0, 5, false);
        QVERIFY(!mayTakeLong(f.ranks[0]));
        for (const Phase phase : {Phase::kValidation, Phase::kCheckpoint}) {
            f.ranks[0].phase = phase;
            f.put(0, 5, false);
            QVERIFY(mayTakeLong(f.ranks[0]));
            f.put(0, 6, true);
            QVERIFY(!mayTakeLong(f.ranks[0]));
        }
        f.ranks[0].phase = Phase::kHeld; // where the others wait for rank 0 as long as it likes
        QVERIFY(mayTakeLong(f.ranks[0]));
    }

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

    void ranksThatHangInTheirFirstSecondAreNoticed() {
        for (const int64_t steps : {100, 2}) {
            Fixture f;
            f.pass(1);
            for (SeenRank& rank : f.ranks)
                rank.step += steps;
            f.stand(12);
            // Of two nothing can be told: the first may have taken nearly all the time.
            QCOMPARE(f.events.size(), size_t(steps == 100 ? 1 : 0));
        }
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

    void theRankThatDidNotComeIsNamedAndNotTheOnesThatWait() {
        Fixture f;
        f.ranks.push_back({4, 0, Phase::kBackward, false});
        f.train(100, 0.1);
        f.put(0, 412, true);
        f.put(1, 411, false);
        f.put(2, 412, true);
        f.ranks[1].phase = Phase::kData;
        f.stand(12);
        QCOMPARE(f.events.size(), size_t(1));
        QCOMPARE(f.events[0].rank, 3);
        QCOMPARE(f.events[0].message,
                 std::string("rank 3 did not come to all-reduce 412 (25.0 MiB), in which others "
                             "wait: in data after step 100 for 10 s"));
        QVERIFY(f.watch.hang()->cause == Hang::Cause::kAbsent);
        QCOMPARE(f.watch.hang()->named.size(), size_t(1));
        QCOMPARE(f.watch.hang()->step, int64_t(100));
        f.train(3, 0.1);
        QVERIFY(!f.watch.hang());
    }

    void aRankThatIsNotInTheSideGroupIsNamedToo() {
        Fixture f;
        f.train(100, 0.1);
        f.put(0, 411, false);
        f.put(1, 411, false);
        f.ranks[1].side.begun = 8; // waits for the commands of the next step
        f.stand(12);
        QCOMPARE(f.events.at(0).rank, 2);
        QVERIFY(f.events[0].message.find("all-reduce") == std::string::npos); // kind of the side
        QVERIFY(f.events[0].message.find("8 of commands") != std::string::npos);
    }

    void whereAllWaitForRanksElsewhereNobodyIsNamed() {
        Fixture f;
        f.train(100, 0.1);
        f.put(0, 412, true);
        f.put(1, 412, true);
        f.stand(12);
        QCOMPARE(f.events.at(0).rank, -1);
        QVERIFY(f.watch.hang()->cause == Hang::Cause::kElsewhere);
        QVERIFY(f.events[0].message.find("elsewhere") != std::string::npos);
        QVERIFY(f.events[0].message.starts_with("no rank of node-b has finished"));
    }

    void aSoleRankThatWaitsForNobodyIsNamed() {
        Fixture f;
        f.ranks.pop_back();
        f.train(100, 0.1);
        f.put(0, 412, false);
        f.stand(12);
        QCOMPARE(f.events.at(0).rank, 2);
        QVERIFY(f.watch.hang()->cause == Hang::Cause::kBusy);
    }

    void aRunOfOneRankWaitsForNobody() {
        Fixture f;
        f.ranks.pop_back();
        f.train(100, 0.1);
        f.stand(12);
        QCOMPARE(f.events.at(0).rank, 2);
        QVERIFY(f.watch.hang()->cause == Hang::Cause::kBusy);
    }

    void aRankBehindThatIsInItsCollectiveIsNotToBlame() {
        Fixture f;
        f.train(100, 0.1);
        f.put(0, 413, true);
        f.put(1, 412, true); // what rank 2 sent in it has not come
        f.stand(12);
        QCOMPARE(f.events.at(0).rank, -1);
        QVERIFY(f.watch.hang()->cause == Hang::Cause::kTransfer);
    }

    void whereTheEndsAreUnknownTheSmallestNumberIsNamed() {
        Fixture f;
        f.train(100, 0.1);
        f.put(0, 413, false);
        f.put(1, 412, false);
        for (auto& rank : f.ranks)
            rank.main.endsAreKnown = false;
        f.stand(12);
        QCOMPARE(f.events.at(0).rank, 3);
        Fixture alike;
        alike.train(100, 0.1);
        alike.put(0, 413, false);
        alike.put(1, 413, false);
        for (auto& rank : alike.ranks)
            rank.main.endsAreKnown = false;
        alike.stand(12);
        QCOMPARE(alike.events.at(0).rank, -1);
    }

    void aStoppedRankIsNamedBeforeThoseThatDidNotCome() {
        Fixture f;
        f.train(100, 0.1);
        f.put(0, 411, false);
        f.put(1, 412, true);
        f.ranks[1].isStopped = true;
        f.stand(12);
        QCOMPARE(f.events.at(0).rank, 3);
        QVERIFY(f.watch.hang()->cause == Hang::Cause::kStopped);
    }

    void whoIsFoundOnlyLaterIsToldThen() {
        Fixture f;
        f.train(100, 0.1);
        f.put(0, 412, true);
        f.put(1, 412, true);
        f.stand(12);
        f.ranks[0].isStopped = true;
        f.stand(30);
        QCOMPARE(f.events.size(), size_t(2));
        QCOMPARE(f.events[1].rank, 2);
    }

    void aNodeCanBeJudgedWithTheOthers() {
        // What the leader of the agents does: ranks of all nodes together.
        Fixture waits, absent;
        waits.put(0, 412, true);
        absent.put(0, 411, false);
        absent.ranks[0].rank = 9;
        const Hang hang = judgeHang({waits.ranks[0], absent.ranks[0]});
        QVERIFY(hang.cause == Hang::Cause::kAbsent);
        QCOMPARE(hang.named.size(), size_t(1));
        QCOMPARE(hang.named[0].rank, 9);
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

    void shortStopsOneAfterTheOtherAreNoHang() {
        Fixture f;
        f.train(100, 0.1);
        for (int i = 0; i < 100; ++i) {
            f.ranks[0].isStopped = i % 3 == 0;
            f.ranks[1].isStopped = i % 3 != 0;
            f.stand(9);
            f.train(1, 0.1); // seen as stopped before and after
        }
        QVERIFY(f.events.empty());
    }

    void phasesThatTakeTheirTimeAreNoHang() {
        for (const Phase phase :
             {Phase::kCheckpoint, Phase::kValidation, Phase::kStarting, Phase::kRendezvous}) {
            Fixture f;
            f.train(100, 0.1);
            f.ranks[0].phase = phase;
            f.stand(590);
            QVERIFY(f.events.empty());
            f.stand(20);
            QCOMPARE(f.events.size(), size_t(1));
        }
        for (const Phase phase : {Phase::kHeld, Phase::kEnding}) {
            Fixture f;
            f.train(100, 0.1);
            f.ranks[0].phase = phase;
            f.stand(10000);
            QVERIFY(f.events.empty());
        }
    }

    void aLongValidationThatGetsOnIsNoHang() {
        Fixture f;
        f.train(100, 0.1);
        for (auto& rank : f.ranks)
            rank.phase = Phase::kValidation;
        for (int i = 0; i < 20; ++i) {
            f.stand(300);
            for (auto& rank : f.ranks)
                ++rank.main.begun;
        }
        QVERIFY(f.events.empty());
    }

    void dataThatIsPreparedIsNoHang() {
        Fixture f;
        for (auto& rank : f.ranks)
            rank.phase = Phase::kData;
        f.stand(500);
        QVERIFY(f.events.empty());
        f.train(5, 0.1); // afterwards a rank that finds no data is one
        f.stand(12);
        QCOMPARE(f.events.size(), size_t(1));
    }

    void aRankStoppedInItsFirstStepIsNamedAsSoon() {
        Fixture f;
        f.stand(20);
        f.ranks[1].isStopped = true;
        f.stand(9);
        QVERIFY(f.events.empty());
        f.stand(3);
        QCOMPARE(f.events.at(0).rank, 3);
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
