// SPDX-License-Identifier: Apache-2.0
#include "shared/exit_code.h"
#include "trainer/agent/supervisor/rank_group.h"

#include <QTest>

#include <algorithm>
#include <csignal>
#include <random>

using namespace rm;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

struct FakeRanks : RankControl {
    std::vector<int> terminated, killed;
    void terminate(int localRank) override { terminated.push_back(localRank); }
    void kill(int localRank) override { killed.push_back(localRank); }
};

struct Group {
    FakeRanks ranks;
    RankGroup group;
    Moment now;
    std::vector<Record> records;

    explicit Group(int count, int first = 0)
        : group({.attempt = 3, .firstRank = first, .localRanks = count}, ranks) {}

    void exit(int rank, ChildStatus status) {
        now.wallNs += 1;
        group.onChildExit(rank, status, "tail", now);
        take();
    }
    void exit(int rank, ExitCode code) { exit(rank, {static_cast<int>(code), 0, false}); }
    void signal(int rank, int number) { exit(rank, {0, number, false}); }
    void pass(int64_t ns) {
        now.monotonicNs += ns;
        group.tick(now);
        take();
    }
    void take() {
        for (Record& record : group.takeRecords())
            records.push_back(std::move(record));
    }
    const AttemptEnded& ended() const { return std::get<AttemptEnded>(records.back()); }
    RankExited exited(int at) const { return std::get<RankExited>(records[at]); }
};

} // namespace

Q_DECLARE_METATYPE(std::string)

class TestRankGroup : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Both ranks fail for one reason; the one that lost its peer was seen first.
    void whatAnInterruptedRankSaysIsTheCause() {
        Group g(2);
        g.exit(1, {static_cast<int>(ExitCode::kPeerLost), 0, false});
        g.group.end(false, "ended, as a rank elsewhere failed", g.now);
        g.exit(0, {static_cast<int>(ExitCode::kCorrupt), 0, false});
        const AttemptEnded end = g.ended();
        QCOMPARE(end.firstFailedRank, 0);
        QCOMPARE(end.exitCode, static_cast<int>(ExitCode::kCorrupt));
        // But if no rank of its own had failed before, it is the one elsewhere.
        Group ended(2);
        ended.group.end(false, "ended, as a rank elsewhere failed", ended.now);
        ended.exit(1, {static_cast<int>(ExitCode::kPeerLost), 0, false});
        ended.exit(0, {static_cast<int>(ExitCode::kFailed), 0, false});
        QCOMPARE(ended.ended().firstFailedRank, -1);
    }

    void finishedWhenAllFinish() {
        Group g(3);
        for (int rank : {1, 0, 2})
            g.exit(rank, ExitCode::kOk);
        QCOMPARE(g.group.state(), RankGroup::State::kEnded);
        QCOMPARE(g.ended().outcome, Outcome::kFinished);
        QCOMPARE(g.ended().attempt, 3);
        QCOMPARE(g.ended().firstFailedRank, -1);
        QVERIFY(g.ranks.terminated.empty());
        QCOMPARE(g.records.size(), size_t(4));
    }

    void orderlyEndOfOneLeavesTheOthers_data() {
        QTest::addColumn<int>("code");
        QTest::addColumn<int>("outcome");
        const auto row = [](const char* name, ExitCode code, Outcome outcome) {
            QTest::newRow(name) << static_cast<int>(code) << static_cast<int>(outcome);
        };
        row("finished", ExitCode::kOk, Outcome::kFinished);
        row("paused", ExitCode::kPaused, Outcome::kPaused);
        row("stopped", ExitCode::kStopped, Outcome::kStopped);
        row("preempted", ExitCode::kPreempted, Outcome::kPreempted);
    }
    void orderlyEndOfOneLeavesTheOthers() {
        QFETCH(int, code);
        QFETCH(int, outcome);
        Group g(2);
        g.exit(0, {code, 0, false});
        g.pass(3600 * kSecond);
        QCOMPARE(g.group.state(), RankGroup::State::kRunning);
        QVERIFY(g.ranks.terminated.empty() && g.ranks.killed.empty());
        g.exit(1, {code, 0, false});
        QCOMPARE(static_cast<int>(g.ended().outcome), outcome);
    }

    /// Its last rank exits just as the agent is told to end what the others have left already.
    void ranksThatHavePausedHavePaused() {
        Group g(2);
        g.exit(0, ExitCode::kPaused);
        g.group.end(true, "its attempt is over", {});
        g.exit(1, ExitCode::kPaused);
        QCOMPARE(g.ended().outcome, Outcome::kPaused);
        QCOMPARE(g.ended().message, std::string("paused on request"));
        QCOMPARE(g.exited(0).message, std::string("exited: paused"));
        QCOMPARE(g.exited(1).message, std::string("exited: paused"));
    }

    void oneFailureEndsTheOthersWithGrace() {
        Group g(3, 8);
        g.signal(1, SIGSEGV);
        QCOMPARE(g.ranks.terminated, (std::vector<int>{0, 2}));
        g.exit(0, ExitCode::kPreempted);
        g.pass(5 * kSecond - 1);
        QVERIFY(g.ranks.killed.empty());
        QCOMPARE(*g.group.nextDeadline(), 5 * kSecond);
        g.pass(1);
        QCOMPARE(g.ranks.killed, std::vector<int>{2});
        QVERIFY(!g.group.nextDeadline());
        g.signal(2, SIGKILL);
        QCOMPARE(g.ended().outcome, Outcome::kFailed);
        QCOMPARE(g.ended().firstFailedRank, 9);
        QCOMPARE(g.ended().exitCode, 128 + SIGSEGV);
        QCOMPARE(g.ended().message, std::string("rank 9: killed by SIGSEGV"));
        QCOMPARE(g.exited(0).message, std::string("killed by SIGSEGV"));
        QCOMPARE(g.exited(0).tail, std::string("tail"));
        QCOMPARE(g.exited(1).message,
                 std::string("exited: preempted, ended because another rank failed"));
        QCOMPARE(g.exited(2).message,
                 std::string("killed by SIGKILL by the agent, as it did not end when asked"));
    }

    void peerLostIsAConsequence() {
        Group g(3);
        g.exit(0, ExitCode::kPeerLost);
        g.exit(2, {1, 0, false});
        g.signal(1, SIGTERM);
        QCOMPARE(g.ended().firstFailedRank, 2);
        QCOMPARE(g.ended().exitCode, 1);
    }

    void peerLostAloneIsTheFirstFailure() {
        Group g(2);
        g.exit(1, ExitCode::kPeerLost);
        g.exit(0, ExitCode::kPeerLost);
        QCOMPARE(g.ended().outcome, Outcome::kFailed);
        QCOMPARE(g.ended().firstFailedRank, 1);
        QCOMPARE(g.ended().message, std::string("rank 1: exited: peer lost"));
    }

    void crashAfterOurSignalBeatsPeerLost() {
        Group g(2);
        g.exit(0, ExitCode::kPeerLost);
        g.signal(1, SIGABRT);
        QCOMPARE(g.ended().firstFailedRank, 1);
    }

    void theEndIsToldAsItWas_data() {
        QTest::addColumn<int>("code");
        QTest::addColumn<std::string>("message");
        const auto row = [](const char* name, ExitCode code, const char* message) {
            QTest::newRow(name) << static_cast<int>(code) << std::string(message);
        };
        row("finished", ExitCode::kOk, "all ranks of this node finished");
        row("paused", ExitCode::kPaused, "paused on request");
        row("stopped", ExitCode::kStopped, "stopped on request");
        row("preempted", ExitCode::kPreempted, "asked to end by SIGTERM or SIGUSR1");
    }
    void theEndIsToldAsItWas() {
        QFETCH(int, code);
        QFETCH(std::string, message);
        Group g(2);
        g.exit(0, {code, 0, false});
        g.exit(1, {code, 0, false});
        QCOMPARE(g.ended().message, message);
    }

    void killedIsNotStopped() {
        Group g(2);
        g.group.kill(g.now);
        g.signal(0, SIGKILL);
        g.exit(1, ExitCode::kPeerLost);
        QCOMPARE(g.ended().outcome, Outcome::kStopped);
        QCOMPARE(g.ended().message, std::string("killed on request"));
    }

    void outOfMemoryIsSaid() {
        Group g(1);
        g.exit(0, {0, SIGKILL, true});
        QVERIFY(g.ended().message.find("ran out of memory") != std::string::npos);
    }

    void unknownStatusIsGivenAsNumber() {
        QCOMPARE(describe({77, 0, false}), std::string("exited with status 77"));
        QCOMPARE(describe({0, 0, false}), std::string("finished"));
        QCOMPARE(describe({8, 0, false}), std::string("exited: out of space"));
        QCOMPARE(describe({139, 0, false}), std::string("exited: killed by SIGSEGV"));
    }

    void stopGivesTimeForACheckpoint() {
        Group g(2);
        g.group.stop(g.now);
        QCOMPARE(g.ranks.terminated, (std::vector<int>{0, 1}));
        g.exit(0, ExitCode::kPreempted);
        g.pass(29 * kSecond);
        QVERIFY(g.ranks.killed.empty());
        g.pass(kSecond);
        QCOMPARE(g.ranks.killed, std::vector<int>{1});
        g.signal(1, SIGKILL);
        QCOMPARE(g.ended().outcome, Outcome::kStopped);
        QCOMPARE(g.ended().firstFailedRank, -1);
    }

    void killIsAtOnceAndStopsWhatStopBegan() {
        Group g(2);
        g.group.stop(g.now);
        g.group.kill(g.now);
        QCOMPARE(g.ranks.killed, (std::vector<int>{0, 1}));
        g.signal(0, SIGKILL);
        g.signal(1, SIGKILL);
        QCOMPARE(g.ended().outcome, Outcome::kStopped);
    }

    void stopAfterTheEndChangesNothing() {
        Group g(1);
        g.exit(0, {1, 0, false});
        g.group.stop(g.now);
        g.group.kill(g.now);
        g.pass(60 * kSecond);
        QVERIFY(g.ranks.terminated.empty() && g.ranks.killed.empty());
        QCOMPARE(g.records.size(), size_t(2));
    }

    void exitToldTwiceCountsOnce() {
        Group g(2);
        g.exit(0, ExitCode::kOk);
        g.exit(0, ExitCode::kOk);
        QCOMPARE(g.group.state(), RankGroup::State::kRunning);
        QCOMPARE(g.records.size(), size_t(1));
    }

    // Whatever the order of exits, time and requests: one end, as many exits as ranks, and
    // nothing is left running when the graces are over.
    void everyScheduleEndsOnce() {
        std::mt19937 random(20);
        for (int round = 0; round < 3000; ++round)
            runRandomSchedule(random);
    }

private:
    static void runRandomSchedule(std::mt19937& random) {
        const int count = 1 + static_cast<int>(random() % 5);
        Group g(count);
        std::vector<bool> gone(count, false);
        int left = count;
        while (left > 0) {
            const int rank = static_cast<int>(random() % count);
            const unsigned dice = random() % 20;
            const bool isKilled = std::find(g.ranks.killed.begin(), g.ranks.killed.end(), rank) !=
                                  g.ranks.killed.end();
            if (dice == 0)
                g.group.stop(g.now);
            else if (dice == 1)
                g.group.kill(g.now);
            else if (dice < 6)
                g.pass(static_cast<int64_t>(random() % (20 * kSecond)));
            else if (!gone[rank]) {
                constexpr int kCodes[] = {0, 1, 20, 21, 22, 23, 24, 99};
                isKilled ? g.signal(rank, SIGKILL) : g.exit(rank, {kCodes[random() % 8], 0, false});
                gone[rank] = true;
                --left;
            }
        }
        QCOMPARE(g.group.state(), RankGroup::State::kEnded);
        QVERIFY(!g.group.nextDeadline());
        QCOMPARE(g.records.size(), static_cast<size_t>(count) + 1);
        const AttemptEnded& ended = g.ended();
        QCOMPARE(ended.firstFailedRank >= 0, ended.outcome == Outcome::kFailed);
    }
};

QTEST_GUILESS_MAIN(TestRankGroup)
#include "tst_rank_group.moc"
