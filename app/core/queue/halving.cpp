// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/queue/halving.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace rm {

namespace {

using Runs = std::vector<const RunSummary*>;

/// A live run at the step itself has still to validate and to save there. One that does not come
/// to the rung unless a person resumes it is on no way to it.
bool isOnItsWay(const RunSummary& run, int64_t rung) {
    return (isLive(run.state) && run.step <= rung) || (run.queuePlace > 0 && run.step < rung);
}

bool waitsAt(const RunSummary& run, int64_t rung) {
    return run.state == RunStateKind::kPaused && run.step == rung && run.queuePlace == 0 &&
           run.deletedNs == 0;
}

bool isJudged(const RunSummary& run, int64_t rung) {
    return std::abs(run.rung) >= rung;
}

/// The first rung that is not decided, and those that may come there. Its step is 0 if there is
/// none.
std::pair<int64_t, Runs> openRung(const std::vector<RunSummary>& runs,
                                  const std::vector<int64_t>& rungs) {
    Runs entrants;
    for (const RunSummary& run : runs)
        entrants.push_back(&run);
    for (const int64_t rung : rungs) {
        if (std::ranges::none_of(entrants,
                                 [&](const RunSummary* run) { return isJudged(*run, rung); }))
            return {rung, entrants};
        std::erase_if(entrants, [&](const RunSummary* run) { return run->rung < rung; });
    }
    return {0, {}};
}

double rankOf(const std::optional<double>& value, bool isLowerBetter) {
    if (!value || std::isnan(*value))
        return std::numeric_limits<double>::infinity();
    return isLowerBetter ? *value : -*value;
}

} // namespace

std::vector<HalvingVerdict> halvingVerdicts(const std::vector<RunSummary>& runs,
                                            const Halving& halving) {
    const auto [rung, entrants] = openRung(runs, halving.rungs);
    std::vector<std::pair<double, const RunSummary*>> here;
    for (const RunSummary* run : entrants) {
        if (isOnItsWay(*run, rung))
            return {};
        if (run->step >= rung)
            here.emplace_back(0, run);
    }
    if (std::ranges::none_of(
            here, [rung = rung](const auto& each) { return waitsAt(*each.second, rung); }))
        return {};
    for (auto& [rank, run] : here)
        rank = rankOf(halving.valueAt(*run, rung), halving.isLowerBetter);
    std::ranges::stable_sort(here, {}, [](const auto& each) { return each.first; });
    const size_t kept = std::max<size_t>(1, here.size() / static_cast<size_t>(halving.eta));
    std::vector<HalvingVerdict> verdicts;
    for (size_t i = 0; i < here.size(); ++i)
        if (waitsAt(*here[i].second, rung))
            verdicts.push_back({here[i].second, i < kept, rung, i + 1, here.size(), kept});
    return verdicts;
}

size_t undecidedRuns(const std::vector<RunSummary>& runs, const std::vector<int64_t>& rungs) {
    const auto [rung, entrants] = openRung(runs, rungs);
    return static_cast<size_t>(
        std::ranges::count_if(entrants, [rung = rung](const RunSummary* run) {
            return isOnItsWay(*run, rung) || waitsAt(*run, rung);
        }));
}

std::vector<int64_t> halvingRungs(int64_t first, int eta, int64_t steps) {
    std::vector<int64_t> rungs;
    for (int64_t rung = first; rung < steps; rung *= eta) {
        rungs.push_back(rung);
        if (rung > steps / eta)
            break;
    }
    return rungs;
}

} // namespace rm
