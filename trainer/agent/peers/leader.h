// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/peers/peer_message.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rm {

/// The consequence of ranks that hang (`launch.on_hang`).
enum class OnHang { kRestart, kStop, kWait };
OnHang onHangOf(const std::string& name);

/// Decides for all nodes of a run, without the app: when an attempt is over, and whether, when and
/// on which nodes the next one begins. It lives in the agent of node 0; there is no election, so
/// that without node 0 no attempt begins.
///
///   kTraining -> kEnding   a node failed, hangs or is lost: the others end their ranks
///   kTraining, kEnding -> kWaiting   all have ended, and the run goes on
///   kTraining, kEnding, kWaiting -> kOver   it does not
///   kWaiting -> kTraining   the nodes are there, and the back-off is over
///
/// Passive: told of what agents say and of time (CLOCK_MONOTONIC, ns), it yields actions. Tested
/// under random schedules of both.
class Leader {
public:
    static constexpr int64_t kSecondNs = 1'000'000'000;
    static constexpr int64_t kGraceNs = 5 * kSecondNs;   ///< from SIGTERM to SIGKILL
    static constexpr int64_t kStuckNs = 10 * kSecondNs;  ///< after SIGKILL: hangs in the kernel
    static constexpr int64_t kAwayNs = 3 * kSecondNs;    ///< for an agent that is replaced
    static constexpr int64_t kStartNs = 15 * kSecondNs;  ///< for an agent to begin an attempt
    static constexpr int64_t kSteadyNs = 10 * kSecondNs; ///< a node that is back stays so long
    /// For a network that is cut to heal, or an agent without which its ranks train on.
    static constexpr int64_t kCutNs = 30 * kSecondNs;
    static constexpr int64_t kComeBackNs = 5 * kSecondNs;   ///< for all, where fewer will do
    static constexpr int64_t kPatienceNs = 600 * kSecondNs; ///< for nodes that are needed
    static constexpr int64_t kHangTimes = 12; ///< times its limit, if its cause is not sure

    struct Config {
        int32_t nodes = 1;              ///< of the run, this one included
        int32_t attempt = 1;            ///< the running one
        std::vector<int32_t> members;   ///< nodes that take part in it, node 0 first
        std::vector<std::string> names; ///< of nodes, for people; empty: by number
        int64_t maxRestarts = 0;        ///< in a row without a new step
        int64_t minNodes = 0;           ///< 0: all
        OnHang onHang = OnHang::kRestart;
        int64_t inARow = 0;  ///< restarts without a new step before this attempt
        int64_t reached = 0; ///< the last step of earlier attempts
    };

    /// All members end the ranks of that attempt.
    struct End {
        int32_t attempt = 1;
        bool kill = false;
        std::string why;
    };
    /// The members of the next attempt begin it.
    struct Start {
        int32_t attempt = 1;
        std::vector<AttemptPlanned::Node> nodes;
        int64_t inARow = 0;  ///< for the Config of a leader that takes this one's place
        int64_t reached = 0; ///< likewise
    };
    /// The run goes on when it can; tells the nodes whose attempt has ended.
    struct Wait {
        int32_t attempt = 1;
    };
    /// Rank 0 pauses all ranks, so that a node that is back can take part again.
    struct Regroup {
        int32_t attempt = 1;
    };
    /// There will be no other attempt.
    struct Over {
        std::optional<Outcome> outcome; ///< that a person asked for
        std::string why;                ///< how they asked, or why it does not go on
    };
    /// For the journal of the node.
    struct Note {
        Severity severity = Severity::kInfo;
        const char* code = "";
        std::string message;
    };
    using Action = std::variant<End, Start, Wait, Regroup, Over, Note>;

    enum class State { kTraining, kEnding, kWaiting, kOver };

    explicit Leader(Config config);

    /// Takes the status of any node, this one included.
    void onStatus(const PeerStatus& status, int64_t nowNs);
    /// The link to that node is lost. `why`: what is known of it, for people.
    void onLinkLost(int32_t node, const std::string& why, int64_t nowNs);
    /// A person ends the run while no rank of node 0 lives. `how`: what the run's end says of it.
    void ask(Outcome outcome, std::string how) {
        m_requested = outcome;
        m_howRequested = std::move(how);
    }

    /// The ranks have done what a person ended the run with, whatever became of them after that.
    void onObeyed(Outcome outcome, std::string how) {
        m_hasObeyed = true;
        ask(outcome, std::move(how));
    }

    /// A person asks the ranks to pause or stop, so that a pause is not that of Regroup, and none
    /// is asked for in this attempt any more.
    void onPersonRequest() {
        m_hasPersonRequest = true;
        m_isRegrouping = false;
    }

    /// The ranks of this attempt have paused as Regroup has it, perhaps for the leader whose place
    /// this one takes.
    void hasRegrouped() { m_isRegrouping = !m_hasPersonRequest; }

    /// The actions that are due now, in order.
    std::vector<Action> tick(int64_t nowNs);
    /// When tick() may have something to do without being told anything. nullopt: not.
    std::optional<int64_t> nextDeadline() const;

    State state() const { return m_state; }
    int32_t attempt() const { return m_attempt; }
    const std::vector<int32_t>& members() const { return m_members; }

private:
    struct Node {
        bool isLinked = false;
        bool wasLinked = false; ///< ever: else its port may be blocked
        int64_t sinceNs = 0;    ///< since when it is linked, or is not
        std::string whyLost;
        std::optional<PeerStatus> status;
    };

    void train(int64_t nowNs);
    void end(int64_t nowNs);
    void wait(int64_t nowNs);
    void watchHang(int64_t nowNs);
    void watchLinks(int64_t nowNs);
    int64_t patienceNs() const;
    void endLeftBehind(int64_t nowNs);
    void regroup(int64_t nowNs);
    void beginEnding(bool kill, const std::string& why, int64_t nowNs);
    void settle(int64_t nowNs);
    void restartAfter(int32_t failed, int64_t nowNs);
    void endAfter(int32_t failed);
    void endAsRequested(const AttemptEnded& failed);
    void beginWaiting(int64_t notBeforeNs, int64_t nowNs);
    void start(const std::vector<int32_t>& nodes, int64_t nowNs);
    void over(std::optional<Outcome> outcome, const std::string& why);
    void note(Severity severity, const char* code, std::string message);
    bool hasEnded(int32_t node) const;
    bool isReady(int32_t node) const;
    bool isSteady(int32_t node, int64_t nowNs) const;
    bool hasFailed(int32_t node) const;
    bool isGone(int32_t node) const;
    bool areEnoughLeft() const;
    std::string whyGone() const;
    bool endedOnRequest(int32_t node) const;
    bool isAway(int32_t node, int64_t forNs, int64_t nowNs) const;
    std::vector<int32_t> missing() const;
    std::optional<int32_t> cause() const;
    std::string nameOf(int32_t node) const;
    std::string namesOf(const std::vector<int32_t>& nodes) const;

    Config m_config;
    State m_state = State::kTraining;
    int32_t m_attempt;
    std::vector<int32_t> m_members;
    std::map<int32_t, Node> m_nodes;
    std::vector<Action> m_actions;
    int64_t m_sinceNs = 0;   ///< in this state; 0: not known yet
    int64_t m_stepNs = 0;    ///< when the step was last seen to change
    int64_t m_step = 0;      ///< of node 0's ranks in this attempt
    int64_t m_reached = 0;   ///< the last step of earlier attempts that counted as progress
    int64_t m_inARow = 0;    ///< restarts without progress
    int64_t m_endSentNs = 0; ///< by endLeftBehind()
    int64_t m_tickedNs = 0;
    int64_t m_notBeforeNs = 0; ///< the earliest start of the next attempt
    std::optional<Outcome> m_requested;
    std::string m_howRequested;
    bool m_hasObeyed = false; ///< what m_requested says was done
    int m_regroups = 0;
    bool m_isKilled = false;
    bool m_isRegrouping = false;
    bool m_hasPersonRequest = false; ///< in this attempt
    bool m_endsForGood = false;      ///< after a hang, with OnHang::kStop
    bool m_hasReportedWait = false;
};

} // namespace rm
