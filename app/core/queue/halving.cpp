// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/queue/halving.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rm {

namespace {

/// A run that does not come to the rung unless a person resumes it is on no way to it.
bool isOnItsWay(const HalvingRun& run, int64_t rung) {
    return run.step < rung && (isLive(run.state) || run.isQueued);
}

/// It has come to the rung just now, and waits there.
bool waitsAt(const HalvingRun& run, int64_t rung) {
    return run.state == RunStateKind::kPaused && run.step == rung && !run.isQueued;
}

double rankOf(const HalvingRun& run, size_t rung, bool isLowerBetter) {
    const auto& value = rung < run.values.size() ? run.values[rung] : std::nullopt;
    if (!value || std::isnan(*value))
        return std::numeric_limits<double>::infinity();
    return isLowerBetter ? *value : -*value;
}

} // namespace

std::vector<HalvingVerdict> halvingVerdicts(const std::vector<HalvingRun>& runs,
                                            const std::vector<int64_t>& rungs, int eta,
                                            bool isLowerBetter) {
    std::vector<HalvingRun> here = runs;
    for (size_t rung = 0; rung < rungs.size(); ++rung) {
        const int64_t step = rungs[rung];
        if (std::ranges::any_of(here, [&](const HalvingRun& run) { return isOnItsWay(run, step); }))
            return {};
        std::erase_if(here, [&](const HalvingRun& run) { return run.step < step; });
        std::ranges::stable_sort(
            here, {}, [&](const HalvingRun& run) { return rankOf(run, rung, isLowerBetter); });
        const size_t kept = std::max<size_t>(1, here.size() / static_cast<size_t>(eta));
        std::vector<HalvingVerdict> verdicts;
        for (size_t i = 0; i < here.size(); ++i)
            if (waitsAt(here[i], step))
                verdicts.push_back({here[i].run, i < kept, step, i + 1, here.size(), kept});
        if (!verdicts.empty())
            return verdicts;
        here.resize(std::min(here.size(), kept));
    }
    return {};
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
