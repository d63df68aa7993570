// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_trace.h"

#include "app/core/findings/text.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>

namespace rm {

namespace {

/// With the digits that tell it from others: "0.02 ms", "12.3 ms", "1250 ms".
std::string msWords(double ns) {
    const double ms = ns / 1e6;
    char text[32];
    std::snprintf(text, sizeof text, ms < 1 ? "%.3f" : ms < 100 ? "%.1f" : "%.0f", ms);
    return std::string(text) + " ms";
}

size_t phaseIndex(TraceKind kind) {
    return static_cast<size_t>(std::ranges::find(kTracePhases, kind) - kTracePhases.begin());
}

/// When the rank's backward passes ended, by step.
std::map<int64_t, int64_t> backwardEnds(const AlignedRank& rank) {
    std::map<int64_t, int64_t> ends;
    for (const TraceSlice& slice : rank.slices)
        if (slice.kind == TraceKind::kBackward)
            ends[slice.step] = std::max(ends[slice.step], slice.endNs());
    return ends;
}

} // namespace

bool AlignedTrace::isDone() const {
    return std::ranges::all_of(ranks, &AlignedRank::isDone);
}

std::optional<int64_t> AlignedTrace::clockErrorNs() const {
    std::optional<int64_t> most;
    for (size_t i = 1; i < ranks.size(); ++i) {
        if (ranks[i].clock.collectives == 0)
            return std::nullopt;
        most = std::max(most.value_or(0), ranks[i].clock.errorNs);
    }
    return most;
}

AlignedTrace alignTrace(const TraceId& id, std::vector<RankTrace> ranks) {
    AlignedTrace trace;
    trace.id = id;
    int64_t begin = std::numeric_limits<int64_t>::max();
    for (RankTrace& rank : ranks) {
        const auto fit = fitClock(rank.slices, ranks.front().slices);
        AlignedRank aligned{rank.rank, rank.node, rank.onDevice, rank.isDone, {}, {}};
        if (&rank != &ranks.front())
            aligned.clock = fit.value_or(fitByWallClock(rank, ranks.front()));
        trace.ranks.push_back(std::move(aligned));
    }
    for (size_t i = 0; i < ranks.size(); ++i) {
        AlignedRank& aligned = trace.ranks[i];
        aligned.slices = std::move(ranks[i].slices);
        for (TraceSlice& slice : aligned.slices) {
            const int64_t end = aligned.clock.toReference(slice.endNs());
            slice.beginNs = aligned.clock.toReference(slice.beginNs);
            slice.durationNs = std::max<int64_t>(0, end - slice.beginNs);
            begin = std::min(begin, slice.beginNs);
        }
    }
    for (AlignedRank& rank : trace.ranks) {
        for (TraceSlice& slice : rank.slices) {
            slice.beginNs -= begin;
            trace.endNs = std::max(trace.endNs, slice.endNs());
        }
        std::ranges::stable_sort(rank.slices, {}, [](const TraceSlice& slice) {
            return std::pair(slice.beginNs, -slice.durationNs);
        });
    }
    if (!trace.isEmpty())
        trace.wallNs = ranks.front().wallNs + begin - ranks.front().clockNs;
    return trace;
}

std::vector<RankPhases> phasesOf(const AlignedTrace& trace) {
    std::vector<RankPhases> all;
    for (const AlignedRank& rank : trace.ranks) {
        RankPhases phases{rank.rank, rank.node, 0, {}, 0};
        for (const TraceSlice& slice : rank.slices) {
            const auto ns = static_cast<double>(slice.durationNs);
            if (slice.kind == TraceKind::kStep) {
                ++phases.steps;
                phases.stepNs += ns;
            } else if (!isCollective(slice.kind)) {
                phases.meanNs[phaseIndex(slice.kind)] += ns;
            }
        }
        const double steps = std::max(1, phases.steps);
        phases.stepNs /= steps;
        for (double& each : phases.meanNs)
            each /= steps;
        all.push_back(std::move(phases));
    }
    return all;
}

std::vector<StepWait> waitsOf(const AlignedTrace& trace) {
    std::map<int64_t, std::vector<std::pair<int64_t, int>>> ends; // by step: end, rank
    for (const AlignedRank& rank : trace.ranks)
        for (const auto& [step, end] : backwardEnds(rank))
            ends[step].emplace_back(end, rank.rank);
    std::vector<StepWait> waits;
    for (auto& [step, ranks] : ends) {
        if (ranks.size() < 2)
            continue;
        const auto [first, last] = std::ranges::minmax(ranks);
        waits.push_back({step, last.second, first.second, last.first - first.first, last.first});
    }
    return waits;
}

std::optional<WaitedFor> waitedFor(const std::vector<StepWait>& waits) {
    if (waits.empty())
        return std::nullopt;
    struct Total {
        int steps = 0;
        double ns = 0;
    };
    std::map<int, Total> byRank;
    for (const StepWait& wait : waits) {
        ++byRank[wait.lastRank].steps;
        byRank[wait.lastRank].ns += static_cast<double>(wait.waitNs);
    }
    const auto most =
        std::ranges::max_element(byRank, {}, [](const auto& each) { return each.second.ns; });
    WaitedFor waited;
    waited.rank = most->first;
    waited.steps = most->second.steps;
    waited.ofSteps = static_cast<int>(waits.size());
    waited.meanNs = most->second.ns / waited.steps;
    waited.longest = *std::ranges::max_element(waits, {}, &StepWait::waitNs);
    return waited;
}

std::string waitedForWords(const WaitedFor& waited) {
    return say("trace.waited-for",
               {{"rank", std::to_string(waited.rank)},
                {"steps", std::to_string(waited.steps)},
                {"all", std::to_string(waited.ofSteps)},
                {"mean", msWords(waited.meanNs)},
                {"longest", msWords(static_cast<double>(waited.longest.waitNs))},
                {"who", std::to_string(waited.longest.firstRank)},
                {"whom", std::to_string(waited.longest.lastRank)},
                {"step", std::to_string(waited.longest.step)}});
}

std::string clockWords(const AlignedTrace& trace) {
    if (trace.ranks.size() < 2)
        return say("trace.one-clock");
    const auto error = trace.clockErrorNs();
    if (!error)
        return say("trace.wall-clocks");
    int fewest = std::numeric_limits<int>::max();
    for (size_t i = 1; i < trace.ranks.size(); ++i)
        fewest = std::min(fewest, trace.ranks[i].clock.collectives);
    return say("trace.aligned", {{"error", msWords(static_cast<double>(*error))},
                                 {"collectives", std::to_string(fewest)}});
}

} // namespace rm
