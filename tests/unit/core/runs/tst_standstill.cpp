// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/standstill.h"
#include "shared/board/board.h"

#include <QTest>

using namespace rm;

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kWallNs = 200 * kSecondNs;

RankState rankAt(int rank, int64_t step, Phase phase, int64_t sinceMs) {
    RankState state;
    state.rank = rank;
    state.pid = 100 + rank;
    state.step = step;
    state.phase = static_cast<uint8_t>(phase);
    state.sinceMs = sinceMs;
    return state;
}

/// A node a rank, both heard of.
LiveState live(const std::vector<RankState>& ranks) {
    LiveState state;
    for (const RankState& rank : ranks) {
        LiveState::NodeLink node;
        node.node = "n" + std::to_string(rank.rank);
        node.link = LiveState::Link::kLive;
        node.state.emplace();
        node.state->ranks = {rank};
        state.nodes.push_back(node);
    }
    return state;
}

} // namespace

class TestStandstill : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void rankWithFewerStepsIsBehind();
    void earlierPhaseOfAStepIsBehind();
    void whoOnlyWaitsIsNotBehind();
    void ranksAtOnePlaceAreToldTogether();
    void rankThatIsGoneIsNotWaitedFor();
    void nodeOutOfReachComesFirst();
    void aCutNetworkIsToldFromARankThatIsMissing();
    void aFullDiskIsToldThoughNoRankRuns();
    void droppedRecordsAreCounted_data();
    void droppedRecordsAreCounted();
    void silenceOfANodeIsToldWithItsAge();
    void delayIsToldAfterThreeSeconds();
    void ranksThatGetOnAreNotNamed();
    void noKillIsAdvisedWhileANodeIsSilent();
    void aFullDiskIsWhyNothingIsAnswered();
    void whatWritesACheckpointIsNotSentToAFullDisk();
    void whatARankKeepsInMemoryIsNotEndedUnasked();
    void ranksThatValidateAreNotToBeKilled();
    void aNodeThatHasNothingOfTheRunIsSaidToHaveNothing();
    void aFullDiskOfThisComputerBlamesNoNode();
    void nobodyIsBlamedBeforeAllAreHeardOf();
    void nothingIsToldWithoutACommand();
    void paceSaysNothingOfARunThatStands_data();
    void paceSaysNothingOfARunThatStands();
};

void TestStandstill::rankWithFewerStepsIsBehind() {
    const LiveState state =
        live({rankAt(0, 48, Phase::kBackward, 9000), rankAt(1, 47, Phase::kOptimizer, 9500)});
    QCOMPARE(QString::fromStdString(whoIsBehind(state)),
             QString("rank 1 on n1 is behind: in optimizer after step 47 for 9 s"));
}

void TestStandstill::earlierPhaseOfAStepIsBehind() {
    const LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 9000), rankAt(1, 47, Phase::kForward, 9000),
              rankAt(2, 47, Phase::kBackward, 9000)});
    QCOMPARE(QString::fromStdString(whoIsBehind(state)),
             QString("rank 1 on n1 is behind: in forward after step 47 for 9 s"));
}

void TestStandstill::whoOnlyWaitsIsNotBehind() {
    // The optimizer of a step comes after its sums, and the others have gone there.
    RankState waits = rankAt(0, 47, Phase::kAllreduce, 9000);
    waits.isWaiting = true;
    const RankState works = rankAt(1, 47, Phase::kOptimizer, 9500);
    QCOMPARE(QString::fromStdString(whoIsBehind(live({waits, works}))),
             QString("rank 1 on n1 is behind: in optimizer after step 47 for 9 s"));
    // Of several that do not wait the last is named.
    const RankState later = rankAt(2, 47, Phase::kCheckpoint, 9000);
    QCOMPARE(QString::fromStdString(whoIsBehind(live({waits, later, works}))),
             QString("rank 1 on n1 is behind: in optimizer after step 47 for 9 s"));
    RankState second = works;
    second.isWaiting = true;
    second.sinceMs = 4000; // not long enough to blame the network
    QCOMPARE(QString::fromStdString(whoIsBehind(live({waits, second}))),
             QString("rank 0 on n0 is behind: in all-reduce after step 47 for 9 s"));
}

void TestStandstill::ranksAtOnePlaceAreToldTogether() {
    const LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 9000), rankAt(1, 47, Phase::kBackward, 9000)});
    QCOMPARE(QString::fromStdString(whoIsBehind(state)),
             QString("all 2 ranks that run are in backward after step 47 for 9 s"));
    const LiveState three =
        live({rankAt(0, 48, Phase::kForward, 900), rankAt(1, 47, Phase::kData, 9000),
              rankAt(2, 47, Phase::kData, 9000)});
    QCOMPARE(QString::fromStdString(whoIsBehind(three)),
             QString("rank 1 on n1 and 1 more are behind: in data after step 47 for 9 s"));
}

void TestStandstill::rankThatIsGoneIsNotWaitedFor() {
    RankState gone = rankAt(1, 3, Phase::kForward, 9000);
    gone.pid = 0;
    const LiveState state = live({rankAt(0, 47, Phase::kBackward, 9000), gone});
    QCOMPARE(QString::fromStdString(whoIsBehind(state)),
             QString("rank 0 on n0 is behind: in backward after step 47 for 9 s"));
    QCOMPARE(whoIsBehind(LiveState()), std::string());
}

void TestStandstill::nodeOutOfReachComesFirst() {
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 9000), rankAt(1, 47, Phase::kForward, 9000)});
    state.nodes[0].link = LiveState::Link::kLost;
    QCOMPARE(whoIsBehind(state), std::string("n0 cannot be reached"));
}

void TestStandstill::aCutNetworkIsToldFromARankThatIsMissing() {
    RankState first = rankAt(0, 47, Phase::kAllreduce, 12000);
    RankState second = rankAt(1, 47, Phase::kBackward, 12500);
    first.isWaiting = second.isWaiting = true;
    QCOMPARE(QString::fromStdString(whoIsBehind(live({first, second}))),
             QString("all 2 ranks wait for each other's sums, while all their nodes answer here: "
                     "the network between n0 and n1 does not carry them; in all-reduce after step "
                     "47 for 12 s"));
    const auto isBlamed = [&](const LiveState& state) {
        return whoIsBehind(state).find("network") != std::string::npos;
    };
    LiveState gone = live({first, second});
    gone.nodes[1].state->ranks[0].pid = 0;
    QVERIFY(!isBlamed(gone));
    second.isWaiting = false; // it computes
    QVERIFY(!isBlamed(live({first, second})));
    second.isWaiting = true;
    second.sinceMs = 2000;
    QVERIFY(!isBlamed(live({first, second})));
    LiveState alone = live({first, second}); // of one machine
    alone.nodes[0].state->ranks.push_back(second);
    alone.nodes.pop_back();
    QVERIFY(!isBlamed(alone));
}

void TestStandstill::aFullDiskIsToldThoughNoRankRuns() {
    LiveState state = live({rankAt(0, 47, Phase::kEnding, 900)});
    state.nodes[0].state->ranks[0].pid = 0;
    QVERIFY(journalProblems(state).empty());
    state.nodes[0].state->hasNoRoom = true;
    QCOMPARE(journalProblems(state).size(), size_t(1));
    QVERIFY(journalProblems(state)[0].starts_with("the disk of the run's folder on n0 is full"));
}

void TestStandstill::droppedRecordsAreCounted_data() {
    QTest::addColumn<qint64>("records");
    QTest::addColumn<QString>("words");
    QTest::newRow("one") << qint64(1) << "1 record was dropped";
    QTest::newRow("two") << qint64(2) << "2 records were dropped";
}

void TestStandstill::droppedRecordsAreCounted() {
    QFETCH(qint64, records);
    QFETCH(QString, words);
    LiveState state = live({rankAt(0, 47, Phase::kBackward, 20)});
    RankState& rank = state.nodes[0].state->ranks[0];
    rank.droppedRecords = records;
    const auto problems = [&] {
        const auto lines = journalProblems(state);
        return lines.size() == 1 ? QString::fromStdString(lines.front()) : QString();
    };
    QCOMPARE(problems(), "rank 0 on n0: " + words);
    rank.journalProblem = 1 + static_cast<uint8_t>(ErrorCode::kExhausted);
    QCOMPARE(problems(), "rank 0 on n0 cannot write its journal: its disk is full (kept in memory, "
                         "written when that is mended); " +
                             words);
}

void TestStandstill::silenceOfANodeIsToldWithItsAge() {
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 900), rankAt(1, 47, Phase::kBackward, 900)});
    state.nodes[0].heardNs = 100 * kSecondNs;
    state.nodes[1].heardNs = 96 * kSecondNs;
    QVERIFY(silentNodes(state, 98 * kSecondNs).empty());
    const auto silent = silentNodes(state, 101 * kSecondNs);
    QCOMPARE(silent.size(), size_t(1));
    QVERIFY2(silent[0].starts_with("n1 has not been heard of for 5 s"), silent[0].c_str());
    state.nodes[1].link = LiveState::Link::kLost; // that is told otherwise
    QVERIFY(silentNodes(state, 101 * kSecondNs).empty());
}

void TestStandstill::delayIsToldAfterThreeSeconds() {
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 5000), rankAt(1, 46, Phase::kForward, 5000)});
    state.pending = CommandKind::kPause;
    state.pendingSinceNs = 100 * kSecondNs;
    QCOMPARE(commandDelay(state, 102 * kSecondNs, kWallNs), std::string());
    QCOMPARE(QString::fromStdString(commandDelay(state, 104 * kSecondNs, kWallNs)),
             QString("pause under way for 4 s: rank 1 on n1 is behind: in forward after step 46 "
                     "for 5 s"));
}

void TestStandstill::ranksThatGetOnAreNotNamed() {
    // As while an agent hangs: the ranks train, and nobody of them is late.
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 20), rankAt(1, 47, Phase::kForward, 5)});
    state.pending = CommandKind::kPause;
    state.pendingSinceNs = 100 * kSecondNs;
    QCOMPARE(whoIsBehind(state), std::string());
    QCOMPARE(QString::fromStdString(commandDelay(state, 104 * kSecondNs, kWallNs)),
             QString("pause under way for 4 s: the ranks get on, but the agent on n0 has not "
                     "confirmed it"));
    QVERIFY(!QString::fromStdString(delayAdvice(state, kWallNs).words).contains("Kill"));
    state.nodes[1].state->ranks[0].sinceMs = 9000;
    QVERIFY(
        QString::fromStdString(commandDelay(state, 104 * kSecondNs, kWallNs)).contains("rank 1"));
    QVERIFY(QString::fromStdString(delayAdvice(state, kWallNs).words).contains("Kill"));
    QVERIFY(delayAdvice(state, kWallNs).isKill);
}

void TestStandstill::noKillIsAdvisedWhileANodeIsSilent() {
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 20), rankAt(1, 47, Phase::kForward, 5000)});
    state.pending = CommandKind::kPause;
    state.pendingSinceNs = 100 * kSecondNs;
    for (LiveState::NodeLink& node : state.nodes)
        node.link = LiveState::Link::kLive;
    QVERIFY(delayAdvice(state, kWallNs).isKill);
    state.nodes[0].heardNs = kWallNs;
    state.nodes[1].heardNs = kWallNs - 5 * kSecondNs;
    QVERIFY(!delayAdvice(state, kWallNs).isKill);
    const std::string delay = commandDelay(state, 104 * kSecondNs, kWallNs);
    QVERIFY2(delay.find("n1 has not been heard of for 5 s") != delay.npos, delay.c_str());
    state.nodes[1].heardNs = kWallNs - 5 * kSecondNs / 2; // not for long, but its agent is late
    QVERIFY(!delayAdvice(state, kWallNs).isKill);
    state.nodes[1].heardNs = kWallNs;
    QVERIFY(delayAdvice(state, kWallNs).isKill);
    state.nodes[0].link = LiveState::Link::kNone; // it has ended
    state.nodes[0].heardNs = kWallNs - 60 * kSecondNs;
    QVERIFY(delayAdvice(state, kWallNs).isKill);
    state.nodes[1].link = LiveState::Link::kRefused;
    state.nodes[1].why = "its host key has changed";
    QVERIFY(!delayAdvice(state, kWallNs).isKill);
    const auto advice = [&] { return QString::fromStdString(delayAdvice(state, kWallNs).words); };
    QCOMPARE(advice(),
             QString("Rank 0 has the command, and the ranks act on it if they get on; those "
                     "of that node are seen again once a check of n1 succeeds."));
    state.pending = CommandKind::kKill;
    QCOMPARE(advice(), QString("Each node ends its own ranks; those of that one once a check of n1 "
                               "succeeds."));
    state.pending = CommandKind::kPause;
    state.nodes[0].link = LiveState::Link::kLost; // which has rank 0
    QCOMPARE(advice(), QString("The command is kept and takes effect once n0 is heard of again."));
    state.nodes[0].link = LiveState::Link::kNone;
    QVERIFY(commandDelay(state, 104 * kSecondNs, kWallNs)
                .ends_with(": n1 cannot be reached: its host key has changed"));
}

void TestStandstill::aFullDiskIsWhyNothingIsAnswered() {
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 20), rankAt(1, 47, Phase::kForward, 5)});
    state.pending = CommandKind::kPause;
    state.pendingSinceNs = 100 * kSecondNs;
    state.nodes[0].state->hasNoRoom = true;
    const std::string delay = commandDelay(state, 104 * kSecondNs, kWallNs);
    QVERIFY2(delay.find("the disk of the run's folder on n0 is full") != delay.npos, delay.c_str());
    const DelayAdvice advice = delayAdvice(state, kWallNs);
    QVERIFY2(!advice.isKill && advice.words.find("free some room") != std::string::npos,
             advice.words.c_str());
}

void TestStandstill::whatWritesACheckpointIsNotSentToAFullDisk() {
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 20), rankAt(1, 47, Phase::kForward, 5)});
    for (const CommandKind kind :
         {CommandKind::kPause, CommandKind::kCheckpoint, CommandKind::kSet})
        QCOMPARE(whyNotNow(state, kind), std::string());
    state.nodes[1].state->hasNoRoom = true; // not the node that gets the command
    state.nodes[1].state->noRoom = "/s/x has 0 B, and 65.5 kB are needed";
    for (const CommandKind kind :
         {CommandKind::kPause, CommandKind::kCheckpoint, CommandKind::kSet}) {
        const std::string why = whyNotNow(state, kind);
        QVERIFY2(
            why.starts_with("the disk of the run's folder on n1 is full (/s/x has 0 B, and 65.5 "
                            "kB are needed)"),
            why.c_str());
    }
    for (const CommandKind kind : {CommandKind::kStop, CommandKind::kKill, CommandKind::kHold})
        QCOMPARE(whyNotNow(state, kind), std::string());
    state.nodes[1].link = LiveState::Link::kLost; // what it said is old
    QCOMPARE(whyNotNow(state, CommandKind::kPause), std::string());
    state.nodes[1].link = LiveState::Link::kLive;
    for (LiveState::NodeLink& node : state.nodes)
        node.state->ranks[0].pid = 0; // a pause ends the wait for the next attempt
    QCOMPARE(whyNotNow(state, CommandKind::kPause), std::string());
}

void TestStandstill::whatARankKeepsInMemoryIsNotEndedUnasked() {
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 20), rankAt(1, 47, Phase::kForward, 5)});
    state.nodes[1].state->ranks[0].journalProblem = 1 + static_cast<uint8_t>(ErrorCode::kDenied);
    for (const CommandKind kind : {CommandKind::kPause, CommandKind::kStop})
        QCOMPARE(whyNotNow(state, kind),
                 std::string("rank 1 on n1 cannot write its journal, as its disk fails, and would "
                             "lose what it keeps in memory; mend that disk, or kill the run"));
    for (const CommandKind kind : {CommandKind::kCheckpoint, CommandKind::kKill})
        QCOMPARE(whyNotNow(state, kind), std::string());
}

void TestStandstill::ranksThatValidateAreNotToBeKilled() {
    LiveState state =
        live({rankAt(0, 47, Phase::kValidation, 15000), rankAt(1, 47, Phase::kValidation, 15000)});
    state.pending = CommandKind::kValidate;
    const DelayAdvice advice = delayAdvice(state, kWallNs);
    QVERIFY2(!advice.isKill && advice.words == "The ranks come to it when that is done.",
             advice.words.c_str());
    state.nodes[1].state->ranks[0].isStopped = true;
    QVERIFY(delayAdvice(state, kWallNs).isKill);
}

void TestStandstill::aNodeThatHasNothingOfTheRunIsSaidToHaveNothing() {
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 20), rankAt(1, 47, Phase::kForward, 5)});
    state.nodes[1].link = LiveState::Link::kMissing;
    state.nodes[1].why = "run x: there is no /x/plan.toml";
    QCOMPARE(whoIsBehind(state), std::string("n1 has nothing of the run at the moment"));
    QVERIFY(isAnyDown(state));
}

void TestStandstill::aFullDiskOfThisComputerBlamesNoNode() {
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 20), rankAt(1, 47, Phase::kForward, 9000)});
    state.pending = CommandKind::kKill;
    state.pendingSinceNs = 100 * kSecondNs;
    QVERIFY(whyUnstored(state).empty());
    state.nodes[0].link = LiveState::Link::kLost; // which may have one cause with it
    state.nodes[1].link = LiveState::Link::kUnstored;
    state.nodes[1].why = "this computer's disk is full: make room at /home/me";
    QCOMPARE(whoIsBehind(state), state.nodes[1].why.toStdString());
    QVERIFY(standsStill(state, 100));
    const std::string delay = commandDelay(state, 104 * kSecondNs, kWallNs);
    QVERIFY2(delay.ends_with(" for 4 s: " + whyUnstored(state)), delay.c_str());
    const DelayAdvice advice = delayAdvice(state, kWallNs);
    QVERIFY2(!advice.isKill && advice.words.find("this computer") != std::string::npos,
             advice.words.c_str());
}

void TestStandstill::nobodyIsBlamedBeforeAllAreHeardOf() {
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, 20), rankAt(1, 47, Phase::kForward, 9000)});
    state.pending = CommandKind::kPause;
    state.pendingSinceNs = 100 * kSecondNs;
    state.nodes[0].link = LiveState::Link::kConnecting; // as of a program that has just begun
    state.nodes[1].link = LiveState::Link::kLive;
    const std::string delay = commandDelay(state, 104 * kSecondNs, kWallNs);
    QVERIFY2(delay.ends_with(": n0 is being connected to"), delay.c_str());
    QVERIFY(!delayAdvice(state, kWallNs).isKill);
}

void TestStandstill::nothingIsToldWithoutACommand() {
    LiveState state = live({rankAt(0, 47, Phase::kBackward, 5000)});
    QCOMPARE(commandDelay(state, 1000 * kSecondNs, kWallNs), std::string());
    state.pending = CommandKind::kStop;
    state.launching.emplace(); // a launch that is cancelled has its own words
    QCOMPARE(commandDelay(state, 1000 * kSecondNs, kWallNs), std::string());
}

void TestStandstill::paceSaysNothingOfARunThatStands_data() {
    QTest::addColumn<qint64>("sinceMs");
    QTest::addColumn<double>("stepMs");
    QTest::addColumn<bool>("held");
    QTest::addColumn<bool>("lost");
    QTest::addColumn<bool>("stands");
    QTest::newRow("runs") << qint64(80) << 100.0 << false << false << false;
    QTest::newRow("a long step") << qint64(8000) << 3000.0 << false << false << false;
    QTest::newRow("hangs") << qint64(8000) << 100.0 << false << false << true;
    QTest::newRow("held") << qint64(80) << 100.0 << true << false << true;
    QTest::newRow("lost") << qint64(80) << 100.0 << false << true << true;
}

void TestStandstill::paceSaysNothingOfARunThatStands() {
    QFETCH(qint64, sinceMs);
    QFETCH(double, stepMs);
    QFETCH(bool, held);
    QFETCH(bool, lost);
    LiveState state =
        live({rankAt(0, 47, Phase::kBackward, sinceMs), rankAt(1, 47, Phase::kForward, 5)});
    state.held = held;
    if (lost)
        state.nodes[1].link = LiveState::Link::kLost;
    QTEST(standsStill(state, stepMs), "stands");
}

QTEST_GUILESS_MAIN(TestStandstill)
#include "tst_standstill.moc"
