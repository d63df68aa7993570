// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace rm {

/// A run of a sweep that halves, as far as it has come.
struct HalvingRun {
    QString run;
    RunStateKind state = RunStateKind::kWaiting;
    int64_t step = 0;
    bool isQueued = false;
    /// By rung: its value there. nullopt: it has none, or is not there yet.
    std::vector<std::optional<double>> values = {};
};

/// What is to become of a run that has paused at a rung.
struct HalvingVerdict {
    QString run;
    bool goesOn = false;
    int64_t rung = 0; ///< the step
    size_t place = 0; ///< among those that came there, from 1
    size_t of = 0;
    size_t kept = 0; ///< how many of these go on
    bool operator==(const HalvingVerdict&) const = default;
};

/// Successive halving (Jamieson and Talwalkar, 2016) by steps: once no run is on its way to a rung
/// any more, the best 1/eta of those that came there go on, at least one. Runs that ended before it
/// are out. Answers only for runs that wait for a verdict, so that it can be asked again and again.
/// `rungs` ascend; runs are in the order in which ties are decided. A run without a value comes
/// last.
std::vector<HalvingVerdict> halvingVerdicts(const std::vector<HalvingRun>& runs,
                                            const std::vector<int64_t>& rungs, int eta,
                                            bool isLowerBetter);

/// first, first * eta, first * eta^2 and so on, as far as they are before `steps`.
std::vector<int64_t> halvingRungs(int64_t first, int eta, int64_t steps);

} // namespace rm
