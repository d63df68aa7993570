// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/crew.h"

#include "shared/io/clock.h"
#include "shared/io/json.h"
#include "shared/io/random_hex.h"
#include "shared/journal/event_codes.h"
#include "trainer/agent/net/free_port.h"
#include "trainer/agent/peers/channel.h"
#include "trainer/agent/peers/copy_plan.h"
#include "trainer/agent/peers/leader.h"
#include "trainer/agent/posix/child.h"

#include <algorithm>
#include <utility>

namespace rm {

namespace {

constexpr int64_t kSecondNs = Leader::kSecondNs;
constexpr size_t kNonceDigits = 32;
constexpr std::chrono::seconds kFindingTime(30); ///< to find a checkpoint to be copied
/// To find one to start from: less than an agent has to begin an attempt (Leader::kStartNs).
constexpr std::chrono::seconds kStartFindingTime(10);
/// As long as the leader waits for nodes, and a little longer.
constexpr int64_t kLeaderPatienceNs = Leader::kPatienceNs + 60 * kSecondNs;

Leader::Config configOf(const NodePlan& plan, const RunSpec& spec) {
    Leader::Config config;
    config.nodes = static_cast<int32_t>(plan.nodes());
    config.attempt = static_cast<int32_t>(plan.attempt);
    config.names = plan.nodeNames;
    config.inARow = plan.restartsInARow;
    config.reached = plan.reachedStep;
    config.maxRestarts = spec.launch.maxRestarts;
    config.minNodes = spec.launch.minNodes;
    const bool restartsHangs = spec.launch.onHang == "restart";
    // A person who wants no restarts does not want ranks killed for one.
    config.onHang = restartsHangs && spec.launch.maxRestarts == 0 ? OnHang::kWait
                                                                  : onHangOf(spec.launch.onHang);
    config.members.assign(plan.members.begin(), plan.members.end());
    for (int32_t node = 0; plan.members.empty() && node < config.nodes; ++node)
        config.members.push_back(node);
    return config;
}

struct Newest {
    FetchOrder order; ///< no path: there is none
    int64_t bytes = 0;
};

/// Reads the answer of `newest-checkpoint`. An error: it cannot be told.
Result<Newest> parseNewest(const std::string& text) {
    const Result<Json> found = parseJson(text, "the newest checkpoint");
    if (!found)
        return fail(ErrorCode::kUnavailable,
                    "look for the newest checkpoint: the folder of the run's checkpoints did not "
                    "answer for " +
                        std::to_string(kStartFindingTime.count()) + " s");
    if (const auto problem = textAt(*found, "problem"))
        return fail(ErrorCode::kUnavailable, *problem);
    return Newest{{textAt(*found, "path").value_or(""),
                   static_cast<int32_t>(intAt(*found, "attempt").value_or(0)),
                   intAt(*found, "step").value_or(0)},
                  intAt(*found, "bytes").value_or(0)};
}

/// The agent of node 0.
class Leading : public Crew {
public:
    Leading(asio::io_context& io, const NodePlan& plan, const RunSpec& spec, CrewTarget& target)
        : m_plan(plan)
        , m_fixedPort(spec.launch.masterPort)
        , m_makesCopies(spec.checkpoint.copies == "auto")
        , m_target(target)
        , m_leader(configOf(plan, spec))
        , m_finder(io)
        , m_starter(io) {
        if (plan.nodes() == 1)
            return;
        m_channel = std::make_unique<LeaderChannel>(
            io, LeaderChannel::Handlers{[this](const PeerStatus& status) { onPeer(status); },
                                        [this](int32_t node, const std::string& why) {
                                            m_leader.onLinkLost(node, why, monotonicNowNs());
                                            act();
                                        },
                                        [this](const FetchAnswer& answer) { onCopied(answer); }});
    }

    void onStatus(const PeerStatus& own) override {
        m_hasTrained = m_hasTrained || own.step > 0;
        const bool hasPaused = own.hasEnded && own.end.outcome == Outcome::kPaused;
        if (hasPaused && m_target.hasDone(kRegroup + std::to_string(own.attempt)))
            m_leader.hasRegrouped();
        m_leader.onStatus(own, monotonicNowNs());
    }

    void tick(int64_t nowNs) override {
        if (m_channel && nowNs - m_tickedNs >= kSecondNs / 2) {
            m_tickedNs = nowNs;
            listen();
            m_channel->tick(nowNs);
            if (m_over) // again, as one may link only now
                sendToAll(*m_over);
            copyNewest(nowNs);
            watchLastCopy(nowNs);
        }
        act();
    }

    std::optional<int64_t> nextDeadline() const override { return m_leader.nextDeadline(); }
    void ask(Outcome outcome, const std::string& how) override { m_leader.ask(outcome, how); }
    void onObeyed(Outcome outcome, const std::string& how) override {
        m_leader.onObeyed(outcome, how);
    }
    void onPersonRequest() override { m_leader.onPersonRequest(); }
    bool isFlushed() const override { return !m_channel || m_channel->isFlushed(); }

    /// A person who killed the run, or whose run failed, is not served by agents that stay.
    void copyLast(const AttemptEnded& end) override {
        m_isCopyingLast = m_channel && m_makesCopies && end.outcome != Outcome::kFailed &&
                          end.message != kKilledMessage;
        if (!m_isCopyingLast)
            return;
        m_finder.stop(); // it may not have seen the last one
        m_copies.onOver();
        m_channel->hurry();
    }
    bool isCopying() const override { return m_isCopyingLast; }
    void giveUpCopy() override { m_isCopyingLast = false; }

private:
    /// Listens, and tries again each time while the port is taken.
    void listen() {
        if (m_isListening)
            return;
        const Result<void> listening = m_channel->listen(m_plan);
        m_isListening = listening.has_value();
        if (!listening && !std::exchange(m_hasReportedPort, true))
            m_target.journal(Event{-1, -1, wallNowNs(), Severity::kWarning, "agents-apart",
                                   listening.error().message +
                                       "; until that is possible the run is not restarted"});
    }

    void onPeer(const PeerStatus& status) {
        m_leader.onStatus(status, monotonicNowNs());
        act();
    }

    /// In a process of its own, as the folder may be of a file system that does not answer.
    void copyNewest(int64_t nowNs) {
        if (m_channel->isRelaying())
            m_copies.onProgress(nowNs);
        // With nobody to offer it to, nothing has failed: the others link in a moment.
        if (!m_makesCopies || m_channel->isAlone() || m_finder.isBusy() || !m_copies.isDue(nowNs))
            return;
        m_finder.run({"newest-checkpoint"}, "", kFindingTime, [this](const std::string& text) {
            const auto [order, bytes] = parseNewest(text).value_or(Newest());
            if (m_copies.onNewest(order.path, bytes, monotonicNowNs()) && !m_channel->offer(order))
                m_copies.onAnswer({order.path, "no other agent can be reached"}, monotonicNowNs());
        });
    }

    void watchLastCopy(int64_t nowNs) {
        const bool isAlone = m_channel->isAlone();
        if (!m_isCopyingLast || (!isAlone && !m_copies.isDone(nowNs)))
            return;
        if (!m_copies.offered().empty())
            onCopied({m_copies.offered(), isAlone ? "the agent that fetched it is gone"
                                                  : "it did not get there in time"});
        m_isCopyingLast = false;
    }

    void onCopied(const FetchAnswer& answer) {
        if (m_copies.onAnswer(answer, monotonicNowNs()))
            m_target.journal(
                Event{-1, -1, wallNowNs(), Severity::kWarning, kNotCopiedEvent,
                      answer.path + " has no copy on another node: " + answer.problem});
    }

    /// An action may lead to a call of tick() by the target; the outermost call goes on.
    void act() {
        if (std::exchange(m_isActing, true))
            return;
        for (auto actions = m_leader.tick(monotonicNowNs()); !actions.empty();
             actions = m_leader.tick(monotonicNowNs()))
            for (const Leader::Action& action : actions)
                std::visit([this](const auto& a) { take(a); }, action);
        m_isActing = false;
    }

    void sendToAll(const PeerMessage& message) {
        if (m_channel)
            m_channel->sendToAll(message);
    }

    void take(const Leader::End& action) {
        const EndOrder order{action.attempt, action.kill, action.why};
        sendToAll(order);
        m_target.endAttempt(order);
    }

    /// In a process of its own, as in copyNewest(). Ranks make the folder before their first step:
    /// where it is not there later, its file system is gone.
    void take(const Leader::Start& action) {
        std::vector<std::string> words{"newest-checkpoint"};
        if (m_hasTrained)
            words.emplace_back("--must-exist");
        m_starter.run(words, "", kStartFindingTime, [this, action](const std::string& text) {
            begin(action, parseNewest(text));
        });
    }

    /// AttemptPlanned is journaled before anything may fail: the app learns of the attempt by it.
    /// The search for the checkpoint took time, in which the leader may have ended the attempt
    /// already.
    void begin(const Leader::Start& action, const Result<Newest>& newest) {
        StartOrder order;
        order.attempt = action.attempt;
        for (const AttemptPlanned::Node& node : action.nodes) {
            order.members.push_back(node.node);
            order.worldSize = std::max(order.worldSize, node.firstRank + node.ranks);
        }
        order.masterPort = static_cast<int32_t>(
            m_fixedPort > 0 ? m_fixedPort : freePortOn(m_plan.masterAddr, m_plan.masterPort));
        order.startFrom = newest ? newest->order.path : std::string();
        if (order.startFrom.empty()) {
            order.startFrom = m_plan.startFrom;
            order.startFromIsExact = m_plan.startFromIsExact;
        }
        order.storeNonce = randomHex(kNonceDigits);
        order.restartsInARow = action.inARow;
        order.reachedStep = action.reached;
        m_target.journal(
            AttemptPlanned{action.attempt, wallNowNs(), order.startFrom, action.nodes});
        if (!newest)
            return m_target.failAttempt(order, newest.error());
        if (m_leader.state() != Leader::State::kTraining)
            return m_target.failAttempt(
                order, {ErrorCode::kUnavailable, "it was asked to end before it had begun"});
        for (const AttemptPlanned::Node& node : action.nodes) {
            order.firstRank = node.firstRank;
            if (node.node > 0 && m_channel)
                (void)m_channel->send(node.node, order); // one that is lost meanwhile is noticed
        }
        order.firstRank = 0;
        m_target.startAttempt(order);
    }

    void take(const Leader::Wait& action) {
        sendToAll(WaitOrder{action.attempt});
        m_target.awaitAttempt();
    }

    void take(const Leader::Regroup& action) {
        m_target.pauseRanks(kRegroup + std::to_string(action.attempt));
    }

    void take(const Leader::Over& action) {
        m_over = OverOrder{action.outcome, action.why};
        sendToAll(*m_over);
        m_target.leave(*m_over);
    }

    void take(const Leader::Note& action) {
        m_target.journal(Event{-1, -1, wallNowNs(), action.severity, action.code, action.message});
    }

    NodePlan m_plan;
    int64_t m_fixedPort;
    bool m_makesCopies;
    CrewTarget& m_target;
    Leader m_leader;
    ChildReader m_finder;      ///< finds the newest checkpoint, to be copied
    ChildReader m_starter;     ///< finds the one to start from
    bool m_hasTrained = false; ///< a rank of this node has finished a step
    CopyPlan m_copies;
    std::optional<OverOrder> m_over;          ///< once the run does not go on
    bool m_isCopyingLast = false;             ///< since then
    std::unique_ptr<LeaderChannel> m_channel; ///< null: the run is on one node
    bool m_isListening = false;
    bool m_hasReportedPort = false;
    bool m_isActing = false;
    int64_t m_tickedNs = 0;
};

/// Any other node's agent.
class Following : public Crew {
public:
    Following(asio::io_context& io, const NodePlan& plan, const RunSpec& spec, CrewTarget& target)
        : m_plan(plan)
        , m_target(target)
        , m_resumes(spec.launch.maxRestarts > 0)
        , m_waitsForHealing(spec.launch.onHang == "wait" || !m_resumes)
        , m_channel(io, {[this] {
                             m_wasLinked = true;
                             m_channel.send(m_own);
                         },
                         [this](const PeerMessage& message) { onOrder(message); },
                         [this](const std::string& why) {
                             m_whyApart = why;
                             m_apartNs = monotonicNowNs();
                         }})
        , m_fetcher(io) {}
    // What is being fetched need not be lost; it ends with the link to the leader.
    ~Following() override { m_fetcher.leave(); }

    void onStatus(const PeerStatus& own) override {
        const int64_t nowNs = monotonicNowNs();
        if (own.step != m_own.step || own.attempt != m_own.attempt || own.isBusy || m_movedNs == 0)
            m_movedNs = nowNs;
        if (own.hasEnded && (!m_own.hasEnded || m_endedNs == 0))
            m_endedNs = nowNs;
        m_own = own;
        m_channel.send(own);
    }

    void tick(int64_t nowNs) override {
        if (nowNs - m_tickedNs < kSecondNs / 2)
            return;
        m_tickedNs = nowNs;
        if (!std::exchange(m_hasBegun, true)) {
            m_apartNs = nowNs;
            if (const Result<void> begun = m_channel.begin(m_plan); !begun)
                m_target.journal(Event{-1, -1, wallNowNs(), Severity::kWarning, "agents-apart",
                                       begun.error().message});
        } else {
            m_channel.tick(nowNs);
        }
        if (!m_channel.isOpen())
            decideAlone(nowNs);
    }

    void ask(Outcome outcome, const std::string& how) override { m_target.leave({outcome, how}); }
    bool isFlushed() const override { return m_channel.isFlushed(); }

    /// The leader stays linked for as long as a copy may come.
    void copyLast(const AttemptEnded&) override { m_isStaying = m_isOverReported; }
    bool isCopying() const override { return m_isStaying && m_channel.isOpen(); }
    void giveUpCopy() override { m_isStaying = false; }

private:
    /// An agent without the leader begins nothing; steps prove that all nodes live.
    void decideAlone(int64_t nowNs) {
        const int64_t apartNs = nowNs - m_apartNs;
        if (!m_own.hasEnded) {
            const int64_t patienceNs = std::max(Leader::kCutNs, m_own.patienceNs);
            if (!m_waitsForHealing && m_wasLinked && apartNs >= Leader::kCutNs &&
                nowNs - m_movedNs >= patienceNs)
                m_target.endAttempt({m_own.attempt, true,
                                     nameOfLeader() + ", where rank 0 is, cannot be reached (" +
                                         m_whyApart + "), and no step was finished meanwhile"});
            return;
        }
        const int64_t waitedNs = nowNs - std::max(m_apartNs, m_endedNs);
        const bool mayGoOn = m_resumes && m_own.end.outcome == Outcome::kFailed;
        if (mayGoOn && waitedNs >= Leader::kAwayNs && !std::exchange(m_isAwaiting, true))
            m_target.awaitAttempt();
        if (waitedNs >= (mayGoOn ? kLeaderPatienceNs : Leader::kAwayNs))
            m_target.leave({{},
                            mayGoOn ? "it was not restarted, as the agent of " + nameOfLeader() +
                                          " could not be reached for 11 minutes"
                                    : ""});
    }

    void onOrder(const PeerMessage& message) {
        if (const auto* start = std::get_if<StartOrder>(&message)) {
            if (m_own.hasEnded && start->attempt > m_own.attempt) {
                m_isAwaiting = false;
                m_target.startAttempt(*start);
            }
        } else if (const auto* end = std::get_if<EndOrder>(&message)) {
            m_target.endAttempt(*end);
        } else if (std::holds_alternative<WaitOrder>(message)) {
            if (!std::exchange(m_isAwaiting, true))
                m_target.awaitAttempt();
        } else if (const auto* over = std::get_if<OverOrder>(&message)) {
            m_isOverReported = true;
            m_target.leave(*over);
        } else if (const auto* copy = std::get_if<FetchOrder>(&message)) {
            fetch(*copy);
        }
    }

    void fetch(const FetchOrder& order) {
        m_fetcher.stop(); // the leader has given up what it fetches
        const std::string text =
            dumpJson({{"path", order.path}, {"attempt", order.attempt}, {"step", order.step}});
        m_fetcher.run({"fetch-checkpoint", m_plan.runId, std::to_string(m_plan.nodeIndex)}, text,
                      ChildReader::kForEver,
                      [this, order](const std::string& answer) { onFetched(order, answer); });
    }

    void onFetched(const FetchOrder& order, const std::string& text) {
        const FetchedCopy fetched = fetchedCopy(order, text, wallNowNs());
        if (fetched.copied)
            m_target.journal(*fetched.copied);
        m_channel.send(fetched.answer);
    }

    std::string nameOfLeader() const { return nameOfNode(m_plan, 0); }

    NodePlan m_plan;
    CrewTarget& m_target;
    bool m_resumes;
    bool m_waitsForHealing;
    PeerStatus m_own;
    PeerChannel m_channel;
    ChildReader m_fetcher; ///< fetches a copy
    bool m_hasBegun = false;
    bool m_wasLinked = false; ///< ever: else the leader's port may be blocked
    bool m_isAwaiting = false;
    bool m_isOverReported = false; ///< by the leader
    bool m_isStaying = false;      ///< since then
    int64_t m_tickedNs = 0;
    int64_t m_apartNs = 0; ///< since when there is no link
    std::string m_whyApart;
    int64_t m_movedNs = 0; ///< when its ranks last finished a step
    int64_t m_endedNs = 0;
};

/// An agent of a run on several nodes without a channel, as an older app started it.
class Alone : public Crew {
public:
    explicit Alone(CrewTarget& target)
        : m_target(target) {}

    void onStatus(const PeerStatus& own) override { m_hasEnded = own.hasEnded; }
    void tick(int64_t) override {
        if (m_hasEnded)
            m_target.leave({});
    }
    void ask(Outcome outcome, const std::string& how) override { m_target.leave({outcome, how}); }

private:
    CrewTarget& m_target;
    bool m_hasEnded = false;
};

} // namespace

std::unique_ptr<Crew> Crew::make(asio::io_context& io, const NodePlan& plan, const RunSpec& spec,
                                 CrewTarget& target) {
    if (plan.nodes() > 1 && plan.agentPort == 0)
        return std::make_unique<Alone>(target);
    if (plan.nodeIndex == 0)
        return std::make_unique<Leading>(io, plan, spec, target);
    return std::make_unique<Following>(io, plan, spec, target);
}

} // namespace rm
