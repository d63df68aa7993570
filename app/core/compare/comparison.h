// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "app/core/store/store_reader.h"
#include "shared/metrics/registry.h"
#include "shared/result.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What each of several runs has of one thing, in words.
struct ComparedValue {
    std::string key;                      ///< "optimizer.lr"
    std::string label;                    ///< "Learning rate"
    std::vector<std::string> values = {}; ///< by run; empty: that one has none

    bool differs() const;
};

/// What one run reported of a metric: rank 0, or its first node, without what was set aside. NaN
/// counts for nothing.
struct MetricExtent {
    double last = 0, least = 0, most = 0;
    int64_t lastStep = 0, leastStep = 0, mostStep = 0;
    bool operator==(const MetricExtent&) const = default;
};

struct ComparedMetric {
    MetricDef def;
    std::vector<std::optional<MetricExtent>> extents = {}; ///< by run; nullopt: it has none
    // The run that is better than all others; nullopt: of this metric none is, or two are alike.
    std::optional<size_t> bestLast = {};
    std::optional<size_t> best = {};
};

/// The better end of what was reported; nullopt: neither is.
std::optional<double> bestOf(const MetricDef& metric, const MetricExtent& extent);
/// The step of that value.
int64_t bestStepOf(const MetricDef& metric, const MetricExtent& extent);

/// Runs beside each other. All lists are in the order of `runs`.
struct Comparison {
    std::vector<RunSummary> runs;
    std::vector<ComparedValue> facts;    ///< state, steps, nodes, runtime and such
    std::vector<double> secondsTrained;  ///< what all steps took together
    std::vector<ComparedValue> settings; ///< the keys of the spec that one of them uses, by schema
    /// Those that one of them reported: Ringmaster's as its registry has them, then the runs' own.
    std::vector<ComparedMetric> metrics;
};

/// Reads what is stored of the runs, which are ids. kNotFound: one of them is not there. `nodes`:
/// those that are known, for their prices. Worker thread: it takes some milliseconds a run.
Result<Comparison> compareRuns(StoreReader& reader, const std::vector<QString>& runs,
                               const std::vector<Node>& nodes = {});

} // namespace rm
