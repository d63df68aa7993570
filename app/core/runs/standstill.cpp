// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/standstill.h"

#include "shared/board/board.h"

#include <algorithm>
#include <tuple>

namespace rm {

namespace {

struct SeenRank {
    std::string node;
    RankState state;
};

/// The ranks that are running, as their nodes report.
std::vector<SeenRank> ranksOf(const LiveState& live) {
    std::vector<SeenRank> ranks;
    for (const LiveState::NodeLink& node : live.nodes)
        if (node.state)
            for (const RankState& rank : node.state->ranks)
                if (rank.pid != 0)
                    ranks.push_back({node.node, rank});
    return ranks;
}

/// Phases in the order of a step; then those between steps, in which ranks wait for each other, and
/// the end.
int placeInStep(uint8_t phase) {
    switch (static_cast<Phase>(phase)) {
    case Phase::kStarting:
    case Phase::kRendezvous:
        return 0;
    case Phase::kData:
        return 1;
    case Phase::kForward:
        return 2;
    case Phase::kBackward:
        return 3;
    case Phase::kAllreduce:
        return 4;
    case Phase::kOptimizer:
        return 5;
    case Phase::kValidation:
    case Phase::kCheckpoint:
    case Phase::kHeld:
        return 6;
    case Phase::kEnding:
        break;
    }
    return 7;
}

/// Whether every rank has waited for the others for long, and each of the nodes, which are several,
/// answers here: then no rank is missing, but their bytes do not come through.
bool isNetworkCut(const LiveState& live, const std::vector<SeenRank>& ranks) {
    constexpr int64_t kLongMs = 10'000;
    const auto waits = [](const SeenRank& rank) {
        return rank.state.isWaiting && rank.state.sinceMs >= kLongMs;
    };
    const auto isWhole = [](const LiveState::NodeLink& node) {
        return node.link == LiveState::Link::kLive && node.state && !node.state->ranks.empty() &&
               std::ranges::none_of(node.state->ranks, [](const RankState& r) { return !r.pid; });
    };
    return live.nodes.size() > 1 && std::ranges::all_of(live.nodes, isWhole) &&
           std::ranges::all_of(ranks, waits);
}

bool getsOn(const SeenRank& rank) {
    return !rank.state.isStopped && rank.state.sinceMs < kCommandPatienceNs / 1'000'000;
}

std::string seconds(int64_t ms) {
    return std::to_string(ms / 1000) + " s";
}

std::string placeOf(const RankState& rank) {
    const std::string phase = phaseName(static_cast<Phase>(rank.phase));
    return "in " + phase + (rank.step > 0 ? " after step " + std::to_string(rank.step) : "") +
           " for " + seconds(rank.sinceMs);
}

} // namespace

bool isAnyDown(const LiveState& live) {
    return std::ranges::any_of(live.nodes, &isDown, &LiveState::NodeLink::link);
}

std::string whyUnstored(const LiveState& live) {
    const auto node =
        std::ranges::find(live.nodes, LiveState::Link::kUnstored, &LiveState::NodeLink::link);
    return node == live.nodes.end() ? std::string() : node->why.toStdString();
}

std::string whoIsBehind(const LiveState& live) {
    if (auto why = whyUnstored(live); !why.empty())
        return why; // what is known of the others is old, too
    const auto lost = std::ranges::find_if(live.nodes, &isDown, &LiveState::NodeLink::link);
    if (lost != live.nodes.end())
        return lost->node + " cannot be reached";
    const auto ranks = ranksOf(live);
    if (ranks.empty())
        return {};
    const auto progress = [](const SeenRank& rank) {
        return std::tuple(rank.state.step, placeInStep(rank.state.phase));
    };
    const auto stopped =
        std::ranges::find_if(ranks, [](const SeenRank& rank) { return rank.state.isStopped; });
    if (stopped != ranks.end())
        return "rank " + std::to_string(stopped->state.rank) + " on " + stopped->node +
               " is stopped, as by SIGSTOP or a debugger: " + placeOf(stopped->state);
    if (std::ranges::all_of(ranks, &getsOn))
        return {};
    if (isNetworkCut(live, ranks))
        return "all " + std::to_string(ranks.size()) +
               " ranks wait for each other's sums, while all their nodes answer here: the network "
               "between " +
               (live.nodes.size() == 2 ? live.nodes[0].node + " and " + live.nodes[1].node
                                       : std::string("the nodes")) +
               " does not carry them; " + placeOf(ranks.front().state);
    // A rank in a collective waits for the ranks that are not in it, however far they are.
    std::vector<SeenRank> late = ranks;
    std::erase_if(late, [](const SeenRank& rank) { return rank.state.isWaiting; });
    if (late.empty())
        late = ranks;
    const auto last = std::ranges::min_element(late, {}, progress);
    const auto count = std::ranges::count(late, progress(*last), progress);
    if (count == static_cast<std::ptrdiff_t>(ranks.size()) && count > 1)
        return "all " + std::to_string(count) + " ranks that run are " + placeOf(last->state);
    std::string words = "rank " + std::to_string(last->state.rank) + " on " + last->node;
    if (count > 1)
        words += " and " + std::to_string(count - 1) + " more";
    return words + (count > 1 ? " are behind: " : " is behind: ") + placeOf(last->state);
}

namespace {

/// "the disk of the run's folder on node-a is full (DIR has 0 B, and 65.5 kB are needed)"
std::string fullDisk(const LiveState::NodeLink& node) {
    const std::string& why = node.state->noRoom;
    return "the disk of the run's folder on " + node.node + " is full" +
           (why.empty() ? "" : " (" + why + ")");
}

} // namespace

std::string whyNoCheckpoint(const LiveState& live, CommandKind kind) {
    if (!rowOf(kind).writesCheckpoint || ranksOf(live).empty())
        return {};
    for (const LiveState::NodeLink& node : live.nodes)
        if (node.link == LiveState::Link::kLive && node.state && node.state->hasNoRoom)
            return fullDisk(node) +
                   ", so neither a checkpoint nor what the ranks have measured since could be kept "
                   "there: make room on it and ask again; the run goes on as before";
    return {};
}

std::vector<std::string> journalProblems(const LiveState& live) {
    constexpr uint8_t kNoRoom = 1 + static_cast<uint8_t>(ErrorCode::kExhausted);
    std::vector<std::string> lines;
    for (const LiveState::NodeLink& node : live.nodes)
        if (node.state && node.state->hasNoRoom)
            lines.push_back(fullDisk(node) +
                            ": no attempt begins there, and no end is written, until there is "
                            "room");
    for (const SeenRank& rank : ranksOf(live)) {
        const RankState& state = rank.state;
        if (state.journalProblem == 0 && state.droppedRecords == 0)
            continue;
        std::string line = "rank " + std::to_string(state.rank) + " on " + rank.node;
        if (state.journalProblem)
            line += std::string(" cannot write its journal: ") +
                    (state.journalProblem == kNoRoom ? "its disk is full" : "its disk fails") +
                    " (kept in memory, written when that is mended)";
        if (state.droppedRecords)
            line += (state.journalProblem ? "; " : ": ") + std::to_string(state.droppedRecords) +
                    " records were dropped";
        lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<std::string> silentNodes(const LiveState& live, int64_t wallNs) {
    constexpr int64_t kSilentNs = 3'000'000'000; // its agent speaks each second
    std::vector<std::string> lines;
    for (const LiveState::NodeLink& node : live.nodes) {
        const int64_t silentNs = wallNs - node.heardNs;
        if (node.link == LiveState::Link::kLive && node.heardNs > 0 && silentNs >= kSilentNs)
            lines.push_back(node.node + " has not been heard of for " +
                            seconds(silentNs / 1'000'000) + "; its ranks are shown as they were");
    }
    return lines;
}

namespace {

/// The first one that has not ended and of which nothing is known as of now, as agents speak each
/// second; nullptr: there is none.
const LiveState::NodeLink* unheardNode(const LiveState& live, int64_t wallNs) {
    constexpr int64_t kFreshNs = 2'000'000'000;
    const auto isUnheard = [&](const LiveState::NodeLink& node) {
        return node.link != LiveState::Link::kNone &&
               (node.link == LiveState::Link::kConnecting || isDown(node.link) ||
                (node.heardNs != 0 && wallNs - node.heardNs >= kFreshNs));
    };
    const auto found = std::ranges::find_if(live.nodes, isUnheard);
    return found == live.nodes.end() ? nullptr : &*found;
}

/// "NODE cannot be reached: ERROR"; empty: all can.
std::string whoIsDown(const LiveState& live) {
    const auto node = std::ranges::find_if(live.nodes, &isDown, &LiveState::NodeLink::link);
    if (node == live.nodes.end())
        return {};
    return node->node + " cannot be reached" +
           (node->why.isEmpty() ? "" : ": " + node->why.toStdString());
}

} // namespace

std::string commandDelay(const LiveState& live, int64_t nowNs, int64_t wallNs,
                         std::optional<CommandKind> asked) {
    if (!live.pending || live.launching || nowNs - live.pendingSinceNs < kCommandPatienceNs)
        return {};
    const auto silent = silentNodes(live, wallNs);
    std::string why = whyUnstored(live);
    if (why.empty())
        why = silent.empty() ? whoIsDown(live) : silent.front();
    const auto* unheard = unheardNode(live, wallNs);
    if (why.empty() && unheard && unheard->link == LiveState::Link::kConnecting)
        why = unheard->node + " is being connected to";
    if (const auto full = journalProblems(live); why.empty() && !full.empty())
        why = full.front();
    if (why.empty())
        why = whoIsBehind(live);
    if (why.empty() && !unheard && !ranksOf(live).empty())
        why = "the ranks get on, but the agent on " + live.nodes.front().node +
              " has not confirmed it";
    return std::string(commandKindName(asked.value_or(*live.pending))) + " under way for " +
           seconds((nowNs - live.pendingSinceNs) / 1'000'000) + (why.empty() ? "" : ": " + why);
}

DelayAdvice delayAdvice(const LiveState& live, int64_t wallNs) {
    if (!whyUnstored(live).empty())
        return {"The nodes answer, and what they say is stored once there is room on this "
                "computer's disk."};
    if (const auto* unheard = unheardNode(live, wallNs)) {
        const bool isRefused = unheard->link == LiveState::Link::kRefused;
        const std::string until = isRefused ? " once a check of " + unheard->node + " succeeds."
                                            : " once " + unheard->node + " is heard of again.";
        if (live.pending == CommandKind::kKill)
            return {"Each node ends its own ranks; those of that one" + until};
        if (unheard == &live.nodes.front())
            return {"The command is kept and takes effect" + until};
        return {
            "Rank 0 has the command, and the ranks act on it if they get on; those of that node "
            "are seen again" +
            until};
    }
    if (!journalProblems(live).empty())
        return {"The answer comes once it can be written down there: free some room on that disk."};
    if (whoIsBehind(live).empty())
        return {"An agent that does not answer is replaced by itself; the ranks go on meanwhile."};
    return {
        "Ranks act together, and one is late. Kill ends them all at once, without a checkpoint.",
        true};
}

bool standsStill(const LiveState& live, double stepMs) {
    constexpr double kLongMs = 5000;
    constexpr double kSteps = 5;
    if (live.held || !whyUnstored(live).empty() || isAnyDown(live))
        return true;
    const auto ranks = ranksOf(live);
    return std::ranges::any_of(ranks, [&](const SeenRank& rank) {
        return rank.state.isStopped ||
               static_cast<double>(rank.state.sinceMs) > std::max(kLongMs, kSteps * stepMs);
    });
}

} // namespace rm
