// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store.h"
#include "shared/metrics/registry.h"

#include <array>
#include <optional>
#include <vector>

namespace rm {

/// The phases of a step, in the order in which they are shown.
struct PhaseName {
    const char* metric; ///< "phase/data_ms"
    const char* word;   ///< "data"; translated where shown
    const char* brief;  ///< the same in three letters or so
};
inline constexpr std::array<PhaseName, 5> kStepPhases = {
    {{"phase/data_ms", "data", "data"},
     {"phase/forward_ms", "forward", "fwd"},
     {"phase/backward_ms", "backward", "bwd"},
     {"phase/allreduce_ms", "all-reduce", "comm"},
     {"phase/optimizer_ms", "optimizer", "opt"}}};
inline constexpr size_t kAllreducePhase = 3;

/// Means of one rank over the last steps.
struct RankMeans {
    int rank = 0;
    double stepMs = 0;
    double throughput = 0; ///< tokens or images a second
    std::array<double, kStepPhases.size()> phaseMs{};

    /// Time in which the rank itself worked: what the others wait for.
    double busyMs() const;
};

struct Straggler {
    int rank = 0;
    size_t phase = 0;  ///< index in kStepPhases of what it spends the time on
    double overBy = 0; ///< 0.21: its busy time is 21 % over the median
};

/// The rank whose own work takes at least 10 % longer than the median rank's.
std::optional<Straggler> findStraggler(const std::vector<RankMeans>& ranks);

/// What stands at the head of a run.
struct RunFigures {
    std::vector<RankMeans> ranks;
    MetricId throughputMetric = metric::kTrainTokensPerS;
    double throughput = 0; ///< of all ranks together
    double stepMs = 0;     ///< of the slowest rank
    double allreduceShare = 0;
    std::optional<Straggler> straggler;
    std::optional<int64_t> bestStep; ///< of the best validation loss
};

RunFigures readFigures(StoreReader& reader, const RunSummary& run);

} // namespace rm
