// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/standstill.h"

#include "app/core/findings/text.h"
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

/// Whether all ranks are in a part of the run that takes its time, and come to a command behind it.
bool areBusyBetweenSteps(const std::vector<SeenRank>& ranks) {
    return !ranks.empty() && std::ranges::all_of(ranks, [](const SeenRank& rank) {
        const auto phase = static_cast<Phase>(rank.state.phase);
        return !rank.state.isStopped &&
               (phase == Phase::kValidation || phase == Phase::kCheckpoint);
    });
}

bool getsOn(const SeenRank& rank) {
    return !rank.state.isStopped && rank.state.sinceMs < kCommandPatienceNs / 1'000'000;
}

std::string secondsOf(int64_t ns) {
    return std::to_string(ns / 1'000'000'000);
}

/// "in forward after step 47 for 12 s"
std::string whereIs(const RankState& rank) {
    const Value phase{"phase", phaseName(static_cast<Phase>(rank.phase))},
        seconds{"seconds", std::to_string(rank.sinceMs / 1000)};
    return rank.step > 0
               ? say("run.in-phase-after", {phase, {"step", std::to_string(rank.step)}, seconds})
               : say("run.in-phase", {phase, seconds});
}

/// What is said of this rank: a phrase with its number, its node and where it is.
std::string sayOf(const SeenRank& rank, const char* phrase) {
    return say(phrase, {{"rank", std::to_string(rank.state.rank)},
                        {"node", rank.node},
                        {"where", whereIs(rank.state)}});
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
        return say(lost->link == LiveState::Link::kMissing ? "run.node-without-it"
                                                           : "run.node-unreachable",
                   {{"node", lost->node}});
    const auto ranks = ranksOf(live);
    if (ranks.empty())
        return {};
    const auto progress = [](const SeenRank& rank) {
        return std::tuple(rank.state.step, placeInStep(rank.state.phase));
    };
    const auto stopped =
        std::ranges::find_if(ranks, [](const SeenRank& rank) { return rank.state.isStopped; });
    if (stopped != ranks.end())
        return sayOf(*stopped, "run.rank-stopped");
    if (std::ranges::all_of(ranks, &getsOn))
        return {};
    const Value all{"ranks", std::to_string(ranks.size())};
    if (isNetworkCut(live, ranks)) {
        const Value where{"where", whereIs(ranks.front().state)};
        return live.nodes.size() == 2
                   ? say("run.network-cut-between",
                         {all, {"one", live.nodes[0].node}, {"other", live.nodes[1].node}, where})
                   : say("run.network-cut", {all, where});
    }
    // A rank in a collective waits for the ranks that are not in it, however far they are.
    std::vector<SeenRank> late = ranks;
    std::erase_if(late, [](const SeenRank& rank) { return rank.state.isWaiting; });
    if (late.empty())
        late = ranks;
    const auto last = std::ranges::min_element(late, {}, progress);
    const auto count = std::ranges::count(late, progress(*last), progress);
    if (count == 1)
        return sayOf(*last, "run.rank-behind");
    const Value where{"where", whereIs(last->state)};
    if (count == static_cast<std::ptrdiff_t>(ranks.size()))
        return say("run.all-ranks-at", {all, where});
    return say("run.ranks-behind", {{"rank", std::to_string(last->state.rank)},
                                    {"node", last->node},
                                    {"more", std::to_string(count - 1)},
                                    where});
}

namespace {

/// "the disk of the run's folder on node-a is full (DIR has 0 B, and 65.5 kB are needed)"
std::string fullDisk(const LiveState::NodeLink& link) {
    const Value node{"node", link.node};
    const std::string& why = link.state->noRoom;
    if (link.state->isDiskReadOnly())
        return say("run.disk-read-only", {node, {"why", why}});
    return why.empty() ? say("run.disk-full", {node})
                       : say("run.disk-full-as", {node, {"why", why}});
}

/// "2 records were dropped"
std::string droppedWords(int64_t records) {
    return records == 1 ? say("run.record-dropped")
                        : say("run.records-dropped", {{"records", std::to_string(records)}});
}

} // namespace

std::string whyNotNow(const LiveState& live, CommandKind kind) {
    const CommandRow& row = rowOf(kind);
    if (ranksOf(live).empty())
        return {};
    for (const LiveState::NodeLink& node : live.nodes)
        if (row.writesCheckpoint && node.link == LiveState::Link::kLive && node.state &&
            node.state->hasNoRoom)
            return say("run.no-checkpoint-there",
                       {{"disk-full", fullDisk(node)},
                        {"mend", say(node.state->isDiskReadOnly() ? "run.mend-disk"
                                                                  : "run.mend-full-disk")}});
    for (const LiveState::NodeLink& node : live.nodes)
        if (row.endsAttempt && row.isForRanks && node.link == LiveState::Link::kLive && node.state)
            for (const RankState& rank : node.state->ranks)
                if (rank.pid != 0 && rank.journalProblem)
                    return say("run.not-while-unwritten",
                               {{"rank", std::to_string(rank.rank)}, {"node", node.node}});
    return {};
}

std::vector<std::string> journalProblems(const LiveState& live) {
    constexpr uint8_t kNoRoom = 1 + static_cast<uint8_t>(ErrorCode::kExhausted);
    std::vector<std::string> lines;
    for (const LiveState::NodeLink& node : live.nodes)
        if (node.state && node.state->hasNoRoom)
            lines.push_back(say("run.no-attempt-there", {{"disk-full", fullDisk(node)}}));
    for (const auto& [name, state] : ranksOf(live)) {
        const Value rank{"rank", std::to_string(state.rank)}, node{"node", name};
        if (state.journalProblem)
            lines.push_back(say(state.journalProblem == kNoRoom ? "run.journal-disk-full"
                                                                : "run.journal-disk-fails",
                                {rank, node}));
        if (state.droppedRecords && state.journalProblem)
            append(lines.back(), droppedWords(state.droppedRecords));
        else if (state.droppedRecords)
            lines.push_back(say("run.rank-dropped",
                                {rank, node, {"dropped", droppedWords(state.droppedRecords)}}));
    }
    return lines;
}

std::vector<std::string> silentNodes(const LiveState& live, int64_t wallNs) {
    constexpr int64_t kSilentNs = 3'000'000'000; // its agent speaks each second
    std::vector<std::string> lines;
    for (const LiveState::NodeLink& node : live.nodes) {
        const int64_t silentNs = wallNs - node.heardNs;
        if (node.link == LiveState::Link::kLive && node.heardNs > 0 && silentNs >= kSilentNs)
            lines.push_back(
                say("run.node-silent", {{"node", node.node}, {"seconds", secondsOf(silentNs)}}));
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
    const auto down = std::ranges::find_if(live.nodes, &isDown, &LiveState::NodeLink::link);
    if (down == live.nodes.end())
        return {};
    const Value node{"node", down->node};
    if (down->link == LiveState::Link::kMissing)
        return say("run.node-has-nothing", {node, {"why", down->why.toStdString()}});
    return down->why.isEmpty()
               ? say("run.node-unreachable", {node})
               : say("run.node-unreachable-as", {node, {"why", down->why.toStdString()}});
}

} // namespace

std::string commandDelay(const LiveState& live, int64_t nowNs, int64_t wallNs,
                         std::optional<CommandKind> requested) {
    if (!live.pending || live.launching || nowNs - live.pendingSinceNs < kCommandPatienceNs)
        return {};
    const auto silent = silentNodes(live, wallNs);
    std::string why = whyUnstored(live);
    if (why.empty())
        why = silent.empty() ? whoIsDown(live) : silent.front();
    const auto* unheard = unheardNode(live, wallNs);
    if (why.empty() && unheard && unheard->link == LiveState::Link::kConnecting)
        why = say("run.node-being-connected", {{"node", unheard->node}});
    if (const auto full = journalProblems(live); why.empty() && !full.empty())
        why = full.front();
    if (why.empty())
        why = whoIsBehind(live);
    if (why.empty() && !unheard && !ranksOf(live).empty())
        why = say("run.agent-has-not-confirmed", {{"node", live.nodes.front().node}});
    const Value command{"command", commandKindName(requested.value_or(*live.pending))},
        seconds{"seconds", secondsOf(nowNs - live.pendingSinceNs)};
    return why.empty() ? say("run.under-way", {command, seconds})
                       : say("run.under-way-as", {command, seconds, {"why", why}});
}

DelayAdvice delayAdvice(const LiveState& live, int64_t wallNs) {
    if (!whyUnstored(live).empty())
        return {say("run.advice-unstored")};
    if (const auto* unheard = unheardNode(live, wallNs)) {
        const bool isRefused = unheard->link == LiveState::Link::kRefused;
        const Value once{"once", say(isRefused ? "run.once-checked" : "run.once-heard",
                                     {{"node", unheard->node}})};
        if (live.pending == CommandKind::kKill)
            return {say("run.advice-kill", {once})};
        const bool isLead = unheard == &live.nodes.front();
        return {say(isLead ? "run.advice-kept" : "run.advice-others", {once})};
    }
    if (!journalProblems(live).empty())
        return {say("run.advice-disk-full")};
    if (whoIsBehind(live).empty())
        return {say("run.advice-agent")};
    if (areBusyBetweenSteps(ranksOf(live)))
        return {say("run.advice-between-steps")};
    return {say("run.advice-late"), true};
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
