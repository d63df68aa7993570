// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/step_span.h"
#include "app/core/store/store_reader.h"
#include "shared/metrics/registry.h"
#include "shared/metrics/straggler_watch.h"

#include <optional>
#include <vector>

namespace rm {

/// The phases of a step, in the order in which they are shown: the metrics of that panel.
const std::vector<const MetricDef*>& stepPhases();

/// Means of one rank over the last steps, or over those that were asked for.
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
    double dataMs() const;
};

/// The index in stepPhases() of the phase in which a straggler loses the most time.
size_t phaseOf(const Straggler& straggler, const std::vector<RankMeans>& ranks);

/// What stands at the head of a run.
struct RunFigures {
    std::vector<RankMeans> ranks;
    MetricDef throughputMetric = builtinMetric(metric::kTrainTokensPerS);
    /// Of all ranks together, which make their steps together: those of which nothing is heard do
    /// what the others do.
    double throughput = 0;
    double stepMs = 0; ///< of the slowest rank
    double allreduceShare = 0;
    bool isCompared = false; ///< ranks have trained for long enough to say that none is slow
    /// The ranks for which the others wait, by StragglerWatch over the last steps; the one that
    /// costs the most first. What a node sends is not stored, so that no link is among them.
    std::vector<Straggler> stragglers;
    int64_t attemptBegin = 0;        ///< the step after which the attempt of these steps began
    int64_t steps = 0;               ///< how many the means are of
    int64_t lastStep = 0;            ///< the last of them
    std::optional<StepSpan> span;    ///< what was asked for
    std::optional<int64_t> bestStep; ///< of the best validation loss
};

/// Of the last steps, or of those in `span`, which stepsOfRun() gives. Of a span the stragglers are
/// those that were slow in about a quarter of it, and as they were when they were so last: by
/// StragglerWatch, which needs some twenty steps to name one. Of one with more than 4096 steps only
/// parts are looked at for them. attemptBegin is of the span's last step.
RunFigures readFigures(StoreReader& reader, const RunSummary& run,
                       const std::optional<StepSpan>& span = {});

} // namespace rm
