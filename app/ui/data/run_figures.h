// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"
#include "shared/metrics/registry.h"

#include <optional>
#include <vector>

namespace rm {

/// The phases of a step, in the order in which they are shown: the metrics of that panel.
const std::vector<const MetricDef*>& stepPhases();

/// Means of one rank over the last steps.
struct RankMeans {
    int rank = 0;
    double stepMs = 0;
    double throughput = 0;            ///< tokens or images a second
    std::vector<double> phaseMs = {}; ///< as stepPhases()
    /// Its newest step came about when the others' did, so that it says how the run goes now.
    bool isCurrent = true;

    /// Time in which the rank itself worked: what the others wait for.
    double busyMs() const;
    double allreduceMs() const;
};

struct Straggler {
    int rank = 0;
    size_t phase = 0;  ///< in stepPhases(): where it loses the most time
    double overBy = 0; ///< 0.21: its busy time is 21 % over the median
};

/// The rank whose own work takes at least 10 % longer than the median rank's, and so much longer
/// that it makes a step, which all ranks end together, at least 5 % longer.
std::optional<Straggler> findStraggler(const std::vector<RankMeans>& ranks);

/// What stands at the head of a run.
struct RunFigures {
    std::vector<RankMeans> ranks;
    MetricDef throughputMetric = builtinMetric(metric::kTrainTokensPerS);
    /// Of all ranks together, which make their steps together: those of which nothing is heard do
    /// what the others do.
    double throughput = 0;
    double stepMs = 0; ///< of the slowest rank
    double allreduceShare = 0;
    std::optional<Straggler> straggler;
    std::optional<int64_t> bestStep; ///< of the best validation loss
};

RunFigures readFigures(StoreReader& reader, const RunSummary& run);

} // namespace rm
