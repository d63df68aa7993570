// SPDX-License-Identifier: Apache-2.0
// The leader's decisions: by example, and under random schedules of failures, cuts and time with
// whatever the agents of a run could say.
#include "shared/exit_code.h"
#include "trainer/agent/peers/leader.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace rm;

namespace {

constexpr int64_t kSecondNs = Leader::kSecondNs;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint kSchedules = 3'000; // each takes seventy times as long
#else
constexpr uint kSchedules = 100'000;
#endif

PeerStatus running(int32_t node, int32_t attempt) {
    PeerStatus status;
    status.node = node;
    status.attempt = attempt;
    status.hasEnded = false;
    return status;
}

/// Agents as simple as they can be: they do what the leader says, at once.
class Run {
public:
    explicit Run(Leader::Config config)
        : m_leader(std::move(config)) {
        const auto attempt = m_leader.attempt();
        for (const int32_t node : m_leader.members())
            m_nodes[node] = running(node, attempt);
    }

    Leader& leader() { return m_leader; }
    PeerStatus& node(int32_t index) { return m_nodes[index]; }
    int64_t now() const { return m_nowNs; }
    const std::vector<Leader::Action>& actions() const { return m_actions; }
    bool isOver() const { return m_leader.state() == Leader::State::kOver; }
    const Leader::Over* over() const { return last<Leader::Over>(); }

    template <class T>
    const T* last() const {
        const T* found = nullptr;
        for (const Leader::Action& action : m_actions)
            if (const T* one = std::get_if<T>(&action))
                found = one;
        return found;
    }

    template <class T>
    int count() const {
        return static_cast<int>(std::ranges::count_if(
            m_actions, [](const auto& action) { return std::holds_alternative<T>(action); }));
    }

    void step(int64_t steps = 1) {
        for (auto& [index, status] : m_nodes)
            if (!status.hasEnded)
                status.step += steps;
        m_furthest = std::max(m_furthest, m_nodes[0].step);
    }
    /// Step that node 0 has ever reached.
    int64_t furthest() const { return m_furthest; }

    void fail(int32_t index, ExitCode code = ExitCode::kFailed) {
        end(index, Outcome::kFailed, static_cast<int32_t>(code));
    }

    void end(int32_t index, Outcome outcome, int32_t code = 0) {
        PeerStatus& status = m_nodes[index];
        status.hasEnded = true;
        status.hasObeyed = outcome == Outcome::kStopped || outcome == Outcome::kPreempted ||
                           (outcome == Outcome::kPaused && code == 0);
        status.end = {status.attempt, outcome, -1, code, m_nowNs + m_order++, "it ended", false};
    }

    /// Its agent kills its ranks, says why, and goes away.
    void removeFolder(int32_t index) {
        PeerStatus& status = m_nodes[index];
        status.whyGone = "the folder on " + std::to_string(index) + " was removed";
        if (!status.hasEnded) {
            fail(index, ExitCode::kUnavailable);
            status.end.message = status.whyGone;
        }
        look();
        cut(index);
    }

    void cut(int32_t index) {
        m_cut.insert(index);
        m_leader.onLinkLost(index, "it is cut off", m_nowNs);
    }
    void heal(int32_t index) { m_cut.erase(index); }

    /// Whether ended nodes obey orders to end: false for those that hang in the kernel.
    void obeys(int32_t index, bool does) {
        if (does)
            m_stuck.erase(index);
        else
            m_stuck.insert(index);
    }

    /// Ranks do not obey the leader's pause.
    void withoutRegrouping() { m_regroups = false; }

    void look() {
        for (const auto& [index, status] : m_nodes)
            if (!m_cut.contains(index))
                m_leader.onStatus(status, m_nowNs);
        for (const Leader::Action& action : m_leader.tick(m_nowNs)) {
            m_actions.push_back(action);
            obey(action);
        }
    }

    void wait(int64_t ns) {
        for (const int64_t endNs = m_nowNs + ns; m_nowNs < endNs; m_nowNs += kSecondNs / 4)
            look();
    }

    void jump(int64_t ns) {
        m_nowNs += ns;
        look();
    }

private:
    void obey(const Leader::Action& action) {
        if (const auto* order = std::get_if<Leader::End>(&action))
            for (auto& [index, status] : m_nodes)
                if (!m_cut.contains(index) && !m_stuck.contains(index) && !status.hasEnded &&
                    status.attempt == order->attempt)
                    end(index, Outcome::kFailed,
                        static_cast<int32_t>(order->kill ? ExitCode::kUnavailable
                                                         : ExitCode::kPeerLost));
        if (const auto* order = std::get_if<Leader::Start>(&action))
            for (const AttemptPlanned::Node& node : order->nodes)
                if (!m_cut.contains(node.node))
                    m_nodes[node.node] = running(node.node, order->attempt);
        if (std::holds_alternative<Leader::Regroup>(action) && m_regroups)
            for (auto& [index, status] : m_nodes)
                if (!status.hasEnded)
                    end(index, Outcome::kPaused);
    }

    Leader m_leader;
    int64_t m_nowNs = 1000 * kSecondNs;
    int64_t m_order = 0;
    int64_t m_furthest = 0;
    bool m_regroups = true;
    std::map<int32_t, PeerStatus> m_nodes;
    std::set<int32_t> m_cut, m_stuck;
    std::vector<Leader::Action> m_actions;
};

Leader::Config config(int32_t nodes, int64_t maxRestarts = 3) {
    Leader::Config made;
    made.nodes = nodes;
    made.maxRestarts = maxRestarts;
    for (int32_t node = 0; node < nodes; ++node)
        made.members.push_back(node);
    return made;
}

std::vector<int32_t> nodesOf(const Leader::Start& start) {
    std::vector<int32_t> nodes;
    for (const AttemptPlanned::Node& node : start.nodes)
        nodes.push_back(node.node);
    return nodes;
}

/// What has to hold at every moment, whatever happens.
struct Invariants {
    std::set<int32_t> attempts;
    bool isOver = false;

    const char* brokenBy(const Leader::Action& action, int64_t maxRestarts,
                         int& startsWithoutProgress) {
        if (isOver)
            return "something was decided after the run was over";
        if (std::holds_alternative<Leader::Over>(action))
            isOver = true;
        const auto* start = std::get_if<Leader::Start>(&action);
        if (!start)
            return nullptr;
        if (!attempts.insert(start->attempt).second)
            return "the number of an attempt was used twice";
        if (start->nodes.empty() || start->nodes.front().node != 0)
            return "an attempt began without node 0";
        int32_t rank = 0;
        for (const AttemptPlanned::Node& node : start->nodes) {
            if (node.firstRank != rank)
                return "ranks have gaps";
            rank += node.ranks;
        }
        if (++startsWithoutProgress > maxRestarts)
            return "more restarts in a row than were allowed";
        return nullptr;
    }
};

} // namespace

class TestLeader : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aRankThatDiesLeadsToTheNextAttemptAtOnce() {
        Run run(config(2));
        run.step(10);
        run.look();
        run.fail(1);
        run.look();
        QCOMPARE(run.count<Leader::End>(), 1);
        QVERIFY(!run.last<Leader::End>()->kill);
        run.look();
        run.look();
        const auto* start = run.last<Leader::Start>();
        QVERIFY(start);
        QCOMPARE(start->attempt, 2);
        QCOMPARE(nodesOf(*start), (std::vector<int32_t>{0, 1}));
    }

    void whatAPersonAskedForIsNotRestarted() {
        for (const Outcome outcome :
             {Outcome::kFinished, Outcome::kPaused, Outcome::kStopped, Outcome::kPreempted}) {
            Run run(config(2));
            run.step(10);
            run.look();
            run.end(0, outcome);
            // The other node lost its peers to it, or did the same.
            if (outcome == Outcome::kStopped || outcome == Outcome::kPreempted)
                run.fail(1, ExitCode::kPeerLost);
            else
                run.end(1, outcome);
            run.wait(30 * kSecondNs);
            QVERIFY(run.isOver());
            QCOMPARE(run.count<Leader::Start>(), 0);
        }
    }

    void whatWouldFailAgainIsNotRestarted() {
        for (const ExitCode code : {ExitCode::kUsage, ExitCode::kNotFound, ExitCode::kDenied,
                                    ExitCode::kExhausted, ExitCode::kNonFinite}) {
            Run run(config(1));
            run.step();
            run.look();
            run.fail(0, code);
            run.wait(kSecondNs);
            QVERIFY(run.isOver());
            QCOMPARE(run.count<Leader::Start>(), 0);
        }
    }

    void restartsWithoutProgressAreCountedAndWait() {
        Run run(config(1, 3));
        run.step(5);
        std::vector<int64_t> begun;
        for (int i = 0; i < 10 && !run.isOver(); ++i) {
            run.look();
            run.fail(0);
            const int64_t failedNs = run.now();
            const int starts = run.count<Leader::Start>();
            while (run.count<Leader::Start>() == starts && !run.isOver())
                run.wait(kSecondNs / 4);
            begun.push_back(run.now() - failedNs);
        }
        QCOMPARE(run.count<Leader::Start>(), 3);
        QVERIFY(run.over()->why.find("3 times") != std::string::npos);
        QVERIFY(begun[1] >= kSecondNs && begun[2] >= 2 * kSecondNs);
    }

    void progressForgetsEarlierRestarts() {
        Run run(config(1, 1));
        for (int i = 0; i < 20; ++i) {
            run.step(100 * (i + 1));
            run.look();
            run.fail(0);
            run.wait(kSecondNs);
            QVERIFY(!run.isOver());
        }
        QCOMPARE(run.count<Leader::Start>(), 20);
    }

    void noRestartsMeansNone() {
        Run run(config(2, 0));
        run.step();
        run.look();
        run.fail(1);
        run.wait(10 * kSecondNs);
        QVERIFY(run.isOver());
        QCOMPARE(run.count<Leader::Start>(), 0);
    }

    void anAgentThatCannotBeHeardHarmsNothingWhileStepsAreDone() {
        Run run(config(2));
        run.look();
        run.cut(1);
        for (int i = 0; i < 600; ++i) {
            run.step();
            run.wait(kSecondNs);
        }
        QCOMPARE(run.count<Leader::End>(), 0);
    }

    void aNodeThatIsCutOffForLongEndsTheAttempt() {
        Run run(config(3));
        run.step();
        run.look();
        run.cut(2);
        run.wait(29 * kSecondNs);
        QCOMPARE(run.count<Leader::End>(), 0); // it may heal
        run.wait(3 * kSecondNs);
        QCOMPARE(run.count<Leader::End>(), 1);
        QVERIFY(run.last<Leader::End>()->kill);
        run.wait(20 * kSecondNs);
        QCOMPARE(run.count<Leader::Start>(), 0); // all nodes are needed
        run.end(2, Outcome::kFailed);
        run.heal(2);
        run.wait(kSecondNs);
        QCOMPARE(nodesOf(*run.last<Leader::Start>()), (std::vector<int32_t>{0, 1, 2}));
    }

    void nodesThatAreNotThereAreWaitedForWithAnEnd() {
        Run run(config(2));
        run.step();
        run.look();
        run.cut(1);
        run.fail(0, ExitCode::kPeerLost);
        run.wait(Leader::kPatienceNs - 10 * kSecondNs);
        QVERIFY(!run.isOver());
        run.wait(30 * kSecondNs);
        QVERIFY(run.isOver());
        QVERIFY(run.over()->why.find("node 1") != std::string::npos);
    }

    void aNodeWhoseFolderWasRemovedIsNotWaitedFor() {
        for (const int64_t maxRestarts : {0, 3}) {
            Run run(config(3, maxRestarts));
            run.step(10);
            run.look();
            run.removeFolder(1);
            run.wait(kSecondNs);
            QVERIFY(run.isOver());
            QCOMPARE(run.count<Leader::Start>(), 0);
            // What its own journal said of that is gone.
            QCOMPARE(run.over()->outcome, std::optional(Outcome::kFailed));
            QCOMPARE(run.over()->why, "the folder on 1 was removed");
        }
    }

    void aFolderThatIsRemovedBetweenAttemptsEndsTheRun() {
        Run run(config(3));
        run.step(10);
        run.look();
        run.cut(2);
        run.fail(0);
        run.wait(20 * kSecondNs);
        QVERIFY(!run.isOver()); // the third may come back
        run.removeFolder(1);
        run.wait(kSecondNs);
        QVERIFY(run.isOver());
        QCOMPARE(run.over()->outcome, std::optional<Outcome>()); // it had failed before
        QCOMPARE(run.over()->why, "the folder on 1 was removed");
    }

    void fewerNodesGoOnAtOnceWithoutAFolderThatWasRemoved() {
        Leader::Config made = config(4);
        made.minNodes = 2;
        Run run(made);
        run.step(100);
        run.look();
        run.removeFolder(1);
        run.wait(kSecondNs); // less than for a node that may come back
        const auto* start = run.last<Leader::Start>();
        QVERIFY(start);
        QCOMPARE(nodesOf(*start), (std::vector<int32_t>{0, 2, 3}));
        QCOMPARE(run.last<Leader::Note>()->message,
                 "the folder on 1 was removed; the run goes on without");
        // The others are taken back as ever.
        run.step(10);
        run.look();
        run.cut(3);
        run.fail(0, ExitCode::kPeerLost);
        run.wait(30 * kSecondNs);
        QCOMPARE(nodesOf(*run.last<Leader::Start>()), (std::vector<int32_t>{0, 2}));
        run.step(10);
        run.end(3, Outcome::kFailed);
        run.heal(3);
        run.wait(Leader::kSteadyNs + 2 * kSecondNs);
        QCOMPARE(run.count<Leader::Regroup>(), 1);
        QCOMPARE(nodesOf(*run.last<Leader::Start>()), (std::vector<int32_t>{0, 2, 3}));
        // Then there are too few.
        run.removeFolder(2);
        run.wait(kSecondNs);
        QVERIFY(!run.isOver());
        run.removeFolder(3);
        run.wait(kSecondNs);
        QVERIFY(run.isOver());
        QCOMPARE(run.over()->why, "the folder on 1 was removed; the folder on 2 was removed; "
                                  "the folder on 3 was removed");
    }

    /// The agents end the run, which nobody could find any more.
    void theFolderOfTheLeaderIsNotGoneOnWithout() {
        Leader::Config made = config(3);
        made.minNodes = 1;
        Run run(made);
        run.step(10);
        run.look();
        run.node(0).whyGone = "the folder on 0 was removed";
        run.fail(0, ExitCode::kUnavailable);
        run.wait(kSecondNs);
        QVERIFY(run.isOver());
        QCOMPARE(run.count<Leader::Start>(), 0);
        QVERIFY(run.over()->why.find("the folder on 0 was removed") != std::string::npos);
    }

    void fewerNodesGoOnAndTheOthersAreTakenBack() {
        Leader::Config made = config(3);
        made.minNodes = 2;
        made.names = {"ada", "bob", "cleo"};
        Run run(made);
        run.step(100);
        run.look();
        run.cut(1);
        run.fail(0, ExitCode::kPeerLost);
        run.wait(30 * kSecondNs);
        const auto* start = run.last<Leader::Start>();
        QVERIFY(start);
        QCOMPARE(nodesOf(*start), (std::vector<int32_t>{0, 2}));
        QCOMPARE(start->nodes[1].firstRank, 1);
        QVERIFY(run.last<Leader::Note>()->message.find("bob") != std::string::npos);
        run.step(10);
        run.wait(kSecondNs);
        run.end(1, Outcome::kFailed);
        run.heal(1);
        run.wait(kSecondNs);
        QCOMPARE(run.count<Leader::Regroup>(), 0); // its link may flap
        run.wait(Leader::kSteadyNs);
        QCOMPARE(run.count<Leader::Regroup>(), 1);
        run.wait(kSecondNs);
        QCOMPARE(nodesOf(*run.last<Leader::Start>()), (std::vector<int32_t>{0, 1, 2}));
    }

    void aNodeWhoseLinkFlapsCostsFewerAndFewerPauses() {
        Leader::Config made = config(2);
        made.minNodes = 1;
        Run run(made);
        const auto regroups = [&](int64_t seconds) {
            const int before = run.count<Leader::Regroup>();
            run.cut(1);
            run.fail(0, ExitCode::kPeerLost);
            run.wait(20 * kSecondNs);
            run.step();
            run.end(1, Outcome::kFailed);
            run.heal(1);
            run.wait(seconds * kSecondNs);
            return run.count<Leader::Regroup>() - before;
        };
        run.step();
        run.look();
        QCOMPARE(regroups(12), 1);
        QCOMPARE(regroups(12), 0); // away again before it is taken back
        run.wait(10 * kSecondNs);
        QCOMPARE(run.count<Leader::Regroup>(), 2);
        QCOMPARE(regroups(38), 0);
    }

    void restartsAreCountedThoughTheLeadersAgentIsReplaced() {
        Leader::Config made = config(1);
        made.inARow = made.maxRestarts - 1;
        made.reached = 70;
        Run run(made);
        run.step(70); // it only repeats what was reached before
        run.look();
        run.fail(0);
        run.wait(120 * kSecondNs);
        const auto* start = run.last<Leader::Start>();
        QVERIFY(start);
        QCOMPARE(start->inARow, made.maxRestarts);
        QCOMPARE(start->reached, int64_t(70));
        run.fail(0);
        run.wait(120 * kSecondNs);
        QVERIFY(run.isOver());
        QCOMPARE(run.count<Leader::Start>(), 1);
    }

    void aStoppedRankIsCuredAtOnceAndASlowOneLater() {
        for (const bool isSure : {true, false}) {
            Run run(config(2));
            run.step();
            run.look();
            run.node(1).hang = {true, isSure, 1, 1, "rank 1 is stopped"};
            run.look();
            QCOMPARE(run.count<Leader::End>(), isSure ? 1 : 0);
            run.node(1).hang.times = Leader::kHangTimes;
            run.look();
            QCOMPARE(run.count<Leader::End>(), 1);
            QVERIFY(run.last<Leader::End>()->kill);
            QVERIFY(run.last<Leader::End>()->why.find("rank 1") != std::string::npos);
            run.wait(kSecondNs);
            QCOMPARE(run.count<Leader::Start>(), 1);
        }
    }

    void hangsLeadToWhatTheSpecSays() {
        for (const OnHang onHang : {OnHang::kWait, OnHang::kStop}) {
            Leader::Config made = config(2);
            made.onHang = onHang;
            Run run(made);
            run.step();
            run.look();
            run.node(1).hang = {true, true, 1, 10, "rank 1 is stopped"};
            run.wait(300 * kSecondNs);
            QCOMPARE(run.count<Leader::Start>(), 0);
            QCOMPARE(run.isOver(), onHang == OnHang::kStop);
        }
    }

    void whoDoesNotEndWhenAskedIsKilled() {
        Run run(config(2));
        run.step();
        run.look();
        run.obeys(0, false);
        run.fail(1);
        run.wait(4 * kSecondNs);
        QVERIFY(!run.last<Leader::End>()->kill);
        run.wait(3 * kSecondNs);
        QVERIFY(run.last<Leader::End>()->kill);
        QCOMPARE(run.count<Leader::Start>(), 0);
    }

    void whoDidNotHearOfTheEndIsToldAgain() {
        Run run(config(2));
        run.step();
        run.look();
        run.cut(1);
        run.wait(40 * kSecondNs); // it ends on node 0 alone
        run.heal(1);
        run.wait(5 * kSecondNs);
        QCOMPARE(run.count<Leader::Start>(), 1);
        QCOMPARE(nodesOf(*run.last<Leader::Start>()), (std::vector<int32_t>{0, 1}));
    }

    void anAgentThatWasNeverHeardEndsNothing() {
        Run run(config(2));
        run.cut(1); // before it was heard of: its port is blocked
        run.wait(300 * kSecondNs);
        QCOMPARE(run.count<Leader::End>(), 0);
    }

    void slowStepsAreNoCut() {
        Run run(config(2));
        run.step();
        run.look();
        run.node(0).patienceNs = 200 * kSecondNs;
        run.cut(1);
        run.wait(190 * kSecondNs);
        QCOMPARE(run.count<Leader::End>(), 0);
        run.wait(30 * kSecondNs);
        QCOMPARE(run.count<Leader::End>(), 1);
    }

    // The agent that asked for it was killed meanwhile.
    void aPauseOfTheLeaderBeforeIsNotAPersons() {
        for (const bool hasPersonRequest : {false, true}) {
            Leader::Config made = config(2);
            made.members = {0};
            made.minNodes = 1;
            Run run(made);
            run.node(1) = {};
            run.node(1).node = 1;
            run.end(0, Outcome::kPaused);
            if (hasPersonRequest)
                run.leader().onPersonRequest();
            run.leader().hasRegrouped();
            run.wait(kSecondNs);
            QCOMPARE(run.isOver(), hasPersonRequest);
            if (!hasPersonRequest)
                QCOMPARE(nodesOf(*run.last<Leader::Start>()), (std::vector<int32_t>{0, 1}));
        }
    }

    void aPauseOfAPersonIsNotTheLeaders() {
        Leader::Config made = config(2);
        made.members = {0};
        made.minNodes = 1;
        Run run(made);
        run.step();
        run.node(1) = {};
        run.node(1).node = 1; // it is back
        run.obeys(0, false);
        run.withoutRegrouping();
        run.wait(Leader::kSteadyNs + kSecondNs);
        QCOMPARE(run.count<Leader::Regroup>(), 1);
        run.leader().onPersonRequest();
        run.wait(2 * Leader::kSteadyNs); // the ranks save meanwhile
        QCOMPARE(run.count<Leader::Regroup>(), 1);
        run.end(0, Outcome::kPaused);
        run.wait(5 * kSecondNs);
        QVERIFY(run.isOver());
        QCOMPARE(run.count<Leader::Start>(), 0);
    }

    void whatWasObeyedIsOverThoughAnotherRankFailed() {
        Run run(config(2));
        run.step();
        run.look();
        run.end(0, Outcome::kStopped);
        run.fail(1);
        run.wait(5 * kSecondNs);
        QVERIFY(run.isOver());
        QCOMPARE(run.count<Leader::Start>(), 0);
    }

    void whatWasObeyedIsItsEndWhateverTheRanksDiedOf() {
        for (const int64_t maxRestarts : {0, 3}) {
            Run run(config(2, maxRestarts));
            run.step(10);
            run.look();
            run.leader().onObeyed(Outcome::kPaused, "paused on request");
            run.fail(0);
            run.fail(1, ExitCode::kPeerLost);
            run.wait(5 * kSecondNs);
            QVERIFY(run.isOver());
            QCOMPARE(run.count<Leader::Start>(), 0);
            QCOMPARE(run.over()->outcome, std::optional(Outcome::kPaused));
            QCOMPARE(run.over()->why, "paused on request");
            QCOMPARE(run.last<Leader::Note>()->message,
                     "attempt 1 failed: it ended; the run is paused, as it was asked to be");
        }
    }

    void aPersonMayEndItBetweenTwoAttempts() {
        Run run(config(2));
        run.step();
        run.look();
        run.cut(1);
        run.fail(0, ExitCode::kPeerLost);
        run.wait(20 * kSecondNs);
        run.leader().ask(Outcome::kStopped, "killed on request");
        run.look();
        QVERIFY(run.isOver());
        QCOMPARE(run.over()->outcome, std::optional(Outcome::kStopped));
        QCOMPARE(run.over()->why, "killed on request");
    }

    /// 100,000 schedules, each by its number: what failed once is run again by it.
    void schedules_data() {
        QTest::addColumn<uint>("first");
        QTest::addColumn<uint>("count");
        QTest::newRow("progress before nodes come back") << 400'411u << 1u;
        QTest::newRow("all") << 0u << kSchedules;
    }

    void schedules() {
        QFETCH(uint, first);
        QFETCH(uint, count);
        int finished = 0, restarted = 0, fewer = 0, gaveUp = 0;
        for (uint seed = first; seed < first + count; ++seed) {
            std::mt19937 random(seed);
            const auto draw = [&random](int least, int most) {
                return std::uniform_int_distribution<int>(least, most)(random);
            };
            Leader::Config made = config(draw(1, 4), draw(0, 3));
            made.minNodes = draw(0, made.nodes);
            made.onHang = static_cast<OnHang>(draw(0, 2));
            Run run(made);
            Invariants invariants;
            invariants.attempts.insert(1);
            size_t seen = 0;
            int inARow = 0;
            int64_t reached = 0;
            bool isRegrouping = false;
            for (int turn = 0; turn < 40 && !run.isOver(); ++turn) {
                const int32_t node = draw(0, made.nodes - 1);
                switch (draw(0, 9)) {
                case 0:
                    run.fail(node, draw(0, 3) ? ExitCode::kFailed : ExitCode::kPeerLost);
                    break;
                case 1:
                    if (node > 0)
                        run.cut(node);
                    break;
                case 2:
                    run.heal(node);
                    break;
                case 3:
                    run.node(node).hang = {true, draw(0, 1) == 1, draw(-1, 3), draw(1, 5), "x"};
                    break;
                case 4:
                    run.obeys(node, draw(0, 1) == 1);
                    break;
                case 5:
                    run.wait(draw(1, 40) * kSecondNs);
                    break;
                case 6:
                    run.end(node, static_cast<Outcome>(draw(0, 3)));
                    break;
                default:
                    run.step(draw(1, 100));
                    run.look();
                    break;
                }
                if (run.furthest() > reached) {
                    reached = run.furthest();
                    inARow = 0;
                }
                run.look();
                for (; seen < run.actions().size(); ++seen) {
                    const Leader::Action& action = run.actions()[seen];
                    isRegrouping = isRegrouping || std::holds_alternative<Leader::Regroup>(action);
                    // To regroup is no restart after a failure.
                    if (isRegrouping && std::holds_alternative<Leader::Start>(action)) {
                        isRegrouping = false;
                        --inARow;
                    }
                    const char* broken = invariants.brokenBy(action, made.maxRestarts, inARow);
                    QVERIFY2(!broken, qPrintable(QString("seed %1: %2").arg(seed).arg(broken)));
                    if (const auto* start = std::get_if<Leader::Start>(&action)) {
                        ++restarted;
                        fewer += static_cast<int32_t>(start->nodes.size()) < made.nodes;
                    }
                }
            }
            // Left alone, with nobody stuck, it is decided within the leader's patience.
            for (int32_t node = 0; node < made.nodes; ++node) {
                run.obeys(node, true);
                run.fail(node, ExitCode::kNonFinite);
            }
            for (int i = 0; i < 300 && !run.isOver(); ++i) {
                run.jump(3 * kSecondNs);
                for (int32_t node = 0; node < made.nodes; ++node)
                    if (!run.node(node).hasEnded)
                        run.fail(node, ExitCode::kNonFinite);
            }
            QVERIFY2(run.isOver(), qPrintable(QString("seed %1: never over").arg(seed)));
            const bool hasWhy = run.over() && !run.over()->why.empty();
            gaveUp += hasWhy;
            finished += !hasWhy;
        }
        // The schedules reach what they are about.
        QVERIFY(count == 1 || (finished > 0 && restarted > 0 && fewer > 0 && gaveUp > 0));
    }
};

QTEST_GUILESS_MAIN(TestLeader)
#include "tst_leader.moc"
