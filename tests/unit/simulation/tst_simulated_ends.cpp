// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/attempt_outcome.h"
#include "shared/exit_code.h"
#include "shared/journal/first_cause.h"
#include "tests/unit/simulation/schedules.h"
#include "trainer/agent/supervisor/rank_group.h"

#include <QTest>

#include <csignal>
#include <map>
#include <memory>
#include <set>

using namespace rm;
using test::Dice;

namespace {

constexpr uint64_t kSchedules = 100'000;
constexpr int64_t kMs = 1'000'000;

/// What happens to an attempt.
enum class Story {
    kFinishes,
    kIsPaused,
    kIsStopped,
    kIsPreempted,
    kCrashes,
    kIsKilled,
    kPausesAsAMachineRestarts, ///< the first one, once rank 0 has obeyed
};

ChildStatus exitOf(ExitCode code) {
    return {static_cast<int>(code), 0};
}

/// The ranks of an attempt on some nodes, with time and processes that are made up. The nodes'
/// agents see the exits of their own ranks alone.
class Attempt {
public:
    Attempt(Dice& dice, Story story)
        : m_dice(dice)
        , m_story(story) {
        const int64_t nodes = 1 + dice.below(4);
        int first = 0;
        for (int64_t i = 0; i < nodes; ++i) {
            const int ranks = static_cast<int>(1 + dice.below(3));
            m_nodes.push_back(std::make_unique<Node>(*this, first, ranks));
            first += ranks;
        }
        m_ranks = first;
        begin();
    }

    std::string run() {
        while (!m_events.empty()) {
            const auto next = m_events.begin();
            m_nowNs = next->first;
            const auto event = next->second;
            m_events.erase(next);
            event();
            tick();
        }
        std::vector<NodeEnd> ends;
        for (const auto& node : m_nodes) {
            if (node->group.state() != RankGroup::State::kEnded)
                return "a node's ranks never end";
            if (!node->end)
                return "a node has no end";
            ends.push_back(*node->end);
        }
        // The agent that takes its place finds what rank 0 has obeyed.
        if (AttemptEnded& first = ends.front().end;
            m_story == Story::kPausesAsAMachineRestarts && first.outcome == Outcome::kFailed)
            first = endedOnRequest(first, Outcome::kPaused, "paused on request");
        for (size_t i = ends.size(); i > 1; --i) // in whichever order they are read
            std::swap(ends[i - 1], ends[static_cast<size_t>(m_dice.below(int64_t(i)))]);
        return flawOf(combined(ends));
    }

private:
    struct Node : RankControl {
        Node(Attempt& attempt, int firstRank, int ranks)
            : all(attempt)
            , first(firstRank)
            , count(ranks)
            , group({.attempt = 1, .firstRank = firstRank, .localRanks = ranks}, *this) {}

        void terminate(int rank) override {
            // Between steps it saves and ends; in a collective it waits for a peer that is gone.
            if (all.m_dice.oneIn(4))
                return; // hangs
            all.in(all.m_dice.below(4000), [this, rank] {
                exit(rank, all.m_dice.oneIn(2)   ? ChildStatus{0, SIGTERM}
                           : all.m_dice.oneIn(2) ? exitOf(ExitCode::kPreempted)
                                                 : exitOf(ExitCode::kPeerLost));
            });
        }
        void kill(int rank) override {
            all.in(all.m_dice.below(20), [this, rank] { exit(rank, {0, SIGKILL}); });
        }
        void exit(int rank, const ChildStatus& status) {
            if (group.hasExited(rank))
                return;
            group.onChildExit(rank, status, {}, {all.m_nowNs, all.m_nowNs});
            take();
        }
        void take() {
            for (const Record& record : group.takeRecords()) {
                if (const auto* exited = std::get_if<RankExited>(&record))
                    exits[exited->rank] = *exited;
                else if (const auto* ended = std::get_if<AttemptEnded>(&record))
                    note(*ended);
            }
        }
        void note(const AttemptEnded& ended) {
            end = NodeEnd{"node", ended, {}, {}, 0, 0};
            if (const auto failed = exits.find(ended.firstFailedRank); failed != exits.end()) {
                end->rankMessage = failed->second.message;
                end->rankExitedNs = failed->second.wallNs;
            }
        }

        Attempt& all;
        int first, count;
        RankGroup group;
        std::map<int, RankExited> exits;
        std::optional<NodeEnd> end;
        std::set<int64_t> awaited; ///< deadlines
    };

    void in(int64_t ms, std::function<void()> event) {
        m_events.emplace(m_nowNs + ms * kMs, std::move(event));
    }
    void exitLater(int rank, int64_t ms, const ChildStatus& status) {
        for (const auto& node : m_nodes)
            if (rank >= node->first && rank < node->first + node->count)
                in(ms, [&node = *node, local = rank - node->first, status] {
                    node.exit(local, status);
                });
    }
    void tick() {
        for (const auto& node : m_nodes) {
            const auto deadline = node->group.nextDeadline();
            if (deadline && node->awaited.insert(*deadline).second)
                m_events.emplace(std::max(*deadline, m_nowNs), [&node = *node, this] {
                    node.group.tick({m_nowNs, m_nowNs});
                    node.take();
                });
        }
    }

    void begin() {
        switch (m_story) {
        case Story::kFinishes:
            return all(ExitCode::kOk);
        case Story::kIsPaused:
            return all(ExitCode::kPaused);
        case Story::kIsStopped:
            return all(ExitCode::kStopped);
        case Story::kIsPreempted:
            return all(ExitCode::kPreempted);
        case Story::kCrashes:
            return crash();
        case Story::kIsKilled:
            return killAll();
        case Story::kPausesAsAMachineRestarts:
            return restartFirst();
        }
    }
    void all(ExitCode code) {
        for (int rank = 0; rank < m_ranks; ++rank)
            exitLater(rank, m_dice.below(3000), exitOf(code));
    }
    /// One goes, the others find out when they need it.
    void crash() {
        m_culprit = static_cast<int>(m_dice.below(m_ranks));
        static const ChildStatus kCauses[] = {{0, SIGSEGV},
                                              {0, SIGKILL, true},
                                              {0, SIGTERM},
                                              exitOf(ExitCode::kFailed),
                                              exitOf(ExitCode::kExhausted),
                                              {77, 0}};
        exitLater(m_culprit, 0, m_dice.of(kCauses));
        for (int rank = 0; rank < m_ranks; ++rank)
            if (rank != m_culprit && !m_dice.oneIn(5)) // or it hangs until it is told to end
                exitLater(rank, 1 + m_dice.below(8000), exitOf(ExitCode::kPeerLost));
        // An agent tells its own ranks alone. Who hangs elsewhere loses its peer in the end.
        for (int rank = 0; rank < m_ranks; ++rank)
            exitLater(rank, 60000, exitOf(ExitCode::kPeerLost));
    }
    /// On each node at a time of its own; the others lose their peers after the first.
    void killAll() {
        int64_t firstMs = INT64_MAX;
        for (const auto& node : m_nodes) {
            const int64_t ms = m_dice.below(3000);
            firstMs = std::min(firstMs, ms);
            in(ms, [&node = *node, this] {
                node.group.kill({m_nowNs, m_nowNs});
                node.take();
            });
        }
        for (int rank = 0; rank < m_ranks; ++rank)
            exitLater(rank, firstMs + 1 + m_dice.below(20000), exitOf(ExitCode::kPeerLost));
    }

    /// Of its ranks some had ended. Of the others some lose a peer in the barrier before their end.
    void restartFirst() {
        const int64_t ms = m_dice.below(3000);
        for (int rank = 0; rank < m_ranks; ++rank)
            if (rank < m_nodes.front()->count)
                exitLater(rank, ms,
                          m_dice.oneIn(2) ? ChildStatus{.isKnown = false}
                                          : exitOf(ExitCode::kPaused));
            else
                exitLater(rank, ms + m_dice.below(3000),
                          exitOf(m_dice.oneIn(2) ? ExitCode::kPeerLost : ExitCode::kPaused));
    }

    std::string flawOf(const AttemptEnded& end) const {
        static const std::map<Story, Outcome> kOutcomes = {
            {Story::kFinishes, Outcome::kFinished},
            {Story::kIsPaused, Outcome::kPaused},
            {Story::kIsStopped, Outcome::kStopped},
            {Story::kCrashes, Outcome::kFailed},
            {Story::kIsPreempted, Outcome::kPreempted},
            {Story::kIsKilled, Outcome::kStopped},
            {Story::kPausesAsAMachineRestarts, Outcome::kPaused},
        };
        if (end.outcome != kOutcomes.at(m_story))
            return std::string("it is ") + outcomeName(end.outcome) + " instead of " +
                   outcomeName(kOutcomes.at(m_story)) + ": " + end.message;
        if (m_story == Story::kCrashes && end.firstFailedRank != m_culprit)
            return "rank " + std::to_string(end.firstFailedRank) + " is blamed for what rank " +
                   std::to_string(m_culprit) + " did: " + end.message;
        if (end.outcome == Outcome::kPaused && end.firstFailedRank >= m_nodes.front()->count)
            return "rank " + std::to_string(end.firstFailedRank) +
                   " is blamed for a machine that was restarted";
        return {};
    }

    Dice& m_dice;
    const Story m_story;
    std::multimap<int64_t, std::function<void()>> m_events;
    std::vector<std::unique_ptr<Node>> m_nodes;
    int64_t m_nowNs = 1;
    int m_ranks = 0;
    int m_culprit = -1;
};

std::string endOf(Dice& dice) {
    static constexpr Story kStories[] = {
        Story::kFinishes,    Story::kIsPaused, Story::kIsStopped,
        Story::kIsPreempted, Story::kCrashes,  Story::kCrashes,
        Story::kCrashes,     Story::kIsKilled, Story::kPausesAsAMachineRestarts};
    Attempt attempt(dice, dice.of(kStories));
    return attempt.run();
}

} // namespace

/// How an attempt ends on its nodes, and what is said of it as a whole.
class tst_simulated_ends : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whoFailedFirstIsNamedAndNobodyElse() {
        QCOMPARE(test::flawIn(kSchedules, &endOf), QByteArray());
    }
};

QTEST_GUILESS_MAIN(tst_simulated_ends)
#include "tst_simulated_ends.moc"
