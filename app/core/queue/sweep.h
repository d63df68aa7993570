// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/queue.h"
#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// A setting that differs between the runs of a sweep: one of `values`, or a number from `from` to
/// `to`.
struct SweepAxis {
    std::string key;                 ///< "optimizer.lr"
    std::vector<std::string> values; ///< as in TOML; empty: a range
    double from = 0, to = 0;
    int count = 0;              ///< values of a range in a grid; 0: none was given
    bool isLogarithmic = false; ///< spaced and drawn evenly by their logarithms
    bool operator==(const SweepAxis&) const = default;
};

/// Reads "lr=1e-3,3e-4", or a range: "lr=1e-4..1e-2" for random values and "lr=1e-4..1e-2/5" for
/// five of them. A range is logarithmic where its ends are positive and `to` is at least ten times
/// `from`. The key is that of a setting, or the last word of one that alone ends so. kInvalid,
/// kNotFound: it is none of that.
Result<SweepAxis> parseSweepAxis(std::string_view text);

struct SweepPlan {
    std::vector<SweepAxis> axes;
    int samples = 0;       ///< as many random choices; 0: a grid of all combinations
    int64_t seed = 1;      ///< the seed of the random choices
    int64_t firstRung = 0; ///< successive halving begins after this step; 0: no halving
    int eta = 2;           ///< one in `eta` of those that come to a rung goes on
    bool operator==(const SweepPlan&) const = default;
};

inline constexpr size_t kMostSweepRuns = 1000;

/// The runs of the sweep, named after what differs, in the order in which they are to start. A
/// random choice comes once. kInvalid: a value is out of bounds, there are none or too many runs,
/// or nothing is left to halve.
Result<std::vector<CheckedSpec>> sweepSpecs(const RunSpec& base, const SweepPlan& plan);
/// The same, or without axes `base` alone.
Result<std::vector<CheckedSpec>> runsOf(const RunSpec& base, const SweepPlan& plan);

/// The spec without the steps at which its sweep compared it, where nobody would: for a run by
/// itself. `sweep`: that of the run which it is made of; nullopt: none.
RunSpec withoutRungs(RunSpec spec, const std::optional<StoredSweep>& sweep);

} // namespace rm
