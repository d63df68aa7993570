// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace rm {

/// What is to become of a run that has paused at a rung.
struct HalvingVerdict {
    const RunSummary* run = nullptr; ///< one of those that were given
    bool goesOn = false;
    int64_t rung = 0; ///< the step
    size_t place = 0; ///< among those that came there, from 1
    size_t of = 0;
    size_t kept = 0; ///< how many of these go on
};

/// Successive halving (Jamieson and Talwalkar, 2016) by steps: once no run is on its way to a rung
/// any more, the best 1/eta of those that came there go on, at least one. Only those that went on
/// from the rung before it take part, by RunSummary::rung; runs that ended before it are out. Each
/// rung is decided once, so that a run that a person resumes or deletes later changes nothing.
struct Halving {
    std::vector<int64_t> rungs; ///< ascending
    int eta = 2;
    bool isLowerBetter = true;
    /// The run's value at that step; nullopt or NaN: it has none, and comes last. Asked for only
    /// where it decides.
    std::function<std::optional<double>(const RunSummary& run, int64_t rung)> valueAt;
};

/// `runs`: all of the sweep, in the order in which ties are decided. Empty: nothing can be decided
/// now.
std::vector<HalvingVerdict> halvingVerdicts(const std::vector<RunSummary>& runs,
                                            const Halving& halving);

/// How many runs are on their way to a rung, or wait at one.
size_t undecidedRuns(const std::vector<RunSummary>& runs, const std::vector<int64_t>& rungs);

/// first, first * eta, first * eta^2 and so on, as far as they are before `steps`.
std::vector<int64_t> halvingRungs(int64_t first, int eta, int64_t steps);

} // namespace rm
