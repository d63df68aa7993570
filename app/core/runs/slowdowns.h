// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/check_row.h"
#include "app/core/runs/run_figures.h"
#include "shared/spec/run_spec.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// How memory of a rank has grown of late.
struct MemoryGrowth {
    int rank = 0;
    bool isGpu = false;
    double bytes = 0;        ///< now
    double bytesPerHour = 0; ///< by a line through the last samples
    bool isSteady = false;   ///< each tenth of them is above the one before
    bool operator==(const MemoryGrowth&) const = default;
};

/// How a run has gone of late, in milliseconds of a mean step.
struct Pace {
    int ranks = 1;
    int64_t steps = 0;     ///< that the figures are of; 0: none was measured
    int64_t lastStep = 0;  ///< of these
    bool isOfSpan = false; ///< they were asked for
    int64_t firstStep() const { return lastStep - steps + 1; }
    double stepMs = 0;    ///< of the slowest rank
    double dataMs = 0;    ///< of the median rank
    double workMs = 0;    ///< forward, backward and optimizer of the median rank
    double exposedMs = 0; ///< of the rank that waits least: no slower rank explains it
    bool hasPhases = false;
    std::optional<double> mfu = {}; ///< of the median rank; nullopt: train/mfu is not known
    std::vector<Straggler> stragglers = {};
    std::vector<std::pair<int, std::string>> nodes = {}; ///< first rank and name of each
    // Between steps; nullopt: not known, as the run validates or saves less often.
    std::optional<double> validationMs = {};
    std::optional<double> checkpointMs = {};
    std::vector<MemoryGrowth> memory = {};
    /// The hottest GPU and its rank, by the median of the last samples; nullopt: no GPU's figures.
    std::optional<std::pair<int, double>> hottestC = {};
    RunSpec spec = {};
};

/// A reason why a run is not faster.
struct Slowdown {
    double share = 0;   ///< of a step, or of the time between two if it lies between steps
    double speedUp = 1; ///< how many times as fast the run is without it
    int rank = -1;      ///< a rank alone
    std::optional<SlowCause> cause = {}; ///< of a straggler
    CheckRow row; ///< in words: what was measured, what it leads to, what to do
};

/// How many times as fast steps of `stepMs` are without `savedMs` of them; 1: nothing would be
/// left.
double speedUpWithout(double stepMs, double savedMs);

/// What slows a run down, what costs the most first; last what bounds it then. A finding costs
///   a rank that is slow   its excess (StragglerWatch)
///   data                  the median rank's wait for batches, from 10 % of a step
///   communication         what even the rank that waits least waits for sums, from 15 % of a step
///   checkpoints           what a save stalls the loop, from 3 % of the time
///   validation            from 10 % of the time
/// Growing memory and hot GPUs cost nothing that could be told; they come behind. If nothing else
/// is found the run is bound by computing. Empty: nothing was measured.
std::vector<Slowdown> findSlowdowns(const Pace& pace);

/// What the verdict cannot say as its figures are absent, a sentence each.
std::vector<std::string> unknownsOf(const Pace& pace);

/// The pace by what is stored. `figures` are those of the run, or of a span of it; of a span with
/// several attempts, validations, checkpoints and memory are of its last one, and of a long span
/// the first two of its last steps.
Pace readPace(StoreReader& reader, const RunSummary& run, const RunFigures& figures);

/// Both, by what is stored.
struct Verdict {
    Pace pace;
    std::vector<Slowdown> slowdowns;
    std::vector<std::string> unknowns;
};
Verdict readVerdict(StoreReader& reader, const RunSummary& run, const RunFigures& figures);
Verdict readVerdict(StoreReader& reader, const RunSummary& run,
                    const std::optional<StepSpan>& span = {});

/// What costs the most, in one line: "Waiting for data: data waits take 31 % of a step, ...".
/// Empty: nothing was measured.
std::string verdictLine(const std::vector<Slowdown>& slowdowns);

} // namespace rm
