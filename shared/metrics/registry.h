// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// Stored in journals: never renumber.
enum class MetricKind : uint8_t {
    kGauge = 0,   ///< a value at a moment
    kCounter = 1, ///< only grows
};

/// The things that have one series each.
enum class MetricScope : uint8_t {
    kRun = 0,  ///< one series a run, emitted by rank 0
    kRank = 1, ///< one series a rank
    kNode = 2, ///< one series a node, stored under the node's first rank
};

/// The clock that orders a metric's samples.
enum class MetricClock : uint8_t {
    kStep = 0, ///< emitted by the ranks at their steps
    kWall = 1, ///< sampled about every second
};

/// Which values are better.
enum class MetricDirection : uint8_t {
    kNeither = 0,
    kLower = 1,
    kHigher = 2,
};

/// How a value reads.
enum class MetricFormat : uint8_t {
    kNumber = 0,
    kPercent = 1, ///< a ratio, 0.47, as 47 %
    kBytes = 2,   ///< with a prefix of 1024 each
};

/// How the series of several ranks share a chart.
enum class MetricRanks : uint8_t {
    kEach = 0,  ///< a line each; of many ranks the median and the extremes
    kFirst = 1, ///< the line of the first rank: the others have the same
    kMean = 2,  ///< one line of their mean at the steps of rank 0
};

using MetricId = uint16_t;

/// Everything that is needed to emit, store, watch and show a metric.
struct MetricDef {
    MetricId id = 0;
    std::string name = {}; ///< "train/loss": [a-z0-9_./-], at most 64, with one '/'
    std::string unit = {}; ///< "ms", "tokens/s", "ratio", "bytes", "" ...
    MetricKind kind = MetricKind::kGauge;
    MetricScope scope = MetricScope::kRank;
    std::string description = {}; ///< one sentence
    MetricClock clock = MetricClock::kStep;
    MetricDirection direction = MetricDirection::kNeither;
    MetricFormat format = MetricFormat::kNumber;
    MetricRanks ranks = MetricRanks::kEach;
    bool smooth = false; ///< noisy from step to step: charts smooth it
    /// Key of the chart that it shares with others, of metricPanels() or the run's own. Empty: a
    /// chart for this metric alone.
    std::string panel = {};
    uint8_t place = 0;      ///< in its chart, from 0
    std::string label = {}; ///< in words: "all-reduce"; empty: what follows the '/' of the name
    std::string brief = {}; ///< the same for a legend: "comm"; empty: the label

    bool operator==(const MetricDef&) const = default;
};

/// A chart of one or more metrics. Those of one panel whose units differ get a chart each.
struct MetricPanel {
    std::string key = {};   ///< "grad_norm"
    std::string title = {}; ///< "%1" in it: the labels of what is in it
    uint8_t colour = 0;     ///< of its first line, as an index of the theme's series colours
    bool fromZero = false;
    bool canBeLog = true;    ///< follows when charts are switched to a logarithmic axis
    bool hasPast = true;     ///< also shows curves of abandoned lines and the parent
    bool isMain = false;     ///< in the part that a person looks at first
    bool isStanding = false; ///< shown before the first value, too
};

/// Ids of the metrics Ringmaster itself emits. Stored in journals: never renumber.
namespace metric {
inline constexpr MetricId kTrainLoss = 1;         ///< train/loss: mean over this rank's tokens
inline constexpr MetricId kTrainLr = 2;           ///< train/lr
inline constexpr MetricId kTrainGradNorm = 3;     ///< train/grad_norm: global, before clipping
inline constexpr MetricId kTrainTokensPerS = 4;   ///< train/tokens_per_s: of this rank
inline constexpr MetricId kTrainStepMs = 5;       ///< train/step_ms
inline constexpr MetricId kValidationLoss = 6;    ///< validation/loss (run scope)
inline constexpr MetricId kTrainImagesPerS = 7;   ///< train/images_per_s: of this rank
inline constexpr MetricId kTrainLossScale = 8;    ///< train/loss_scale: of float16 (run scope)
inline constexpr MetricId kTrainSkippedSteps = 9; ///< train/skipped_steps (run scope)
inline constexpr MetricId kPhaseDataMs = 10;      ///< phase/data_ms: waiting for the batch
inline constexpr MetricId kPhaseForwardMs = 11;   ///< phase/forward_ms
inline constexpr MetricId kPhaseBackwardMs = 12;  ///< phase/backward_ms: computing, without waiting
inline constexpr MetricId kPhaseAllreduceMs = 13; ///< phase/allreduce_ms: exposed wait only
inline constexpr MetricId kPhaseOptimizerMs = 14; ///< phase/optimizer_ms
inline constexpr MetricId kPhaseCheckpointMs = 15;      ///< phase/checkpoint_ms: stall of the loop
inline constexpr MetricId kDataBadSamples = 16;         ///< data/bad_samples: unreadable, skipped
inline constexpr MetricId kTrainTflops = 17;            ///< train/tflops: of this rank
inline constexpr MetricId kTrainMfu = 18;               ///< train/mfu, ratio: of this rank
inline constexpr MetricId kValidationBleu = 20;         ///< validation/bleu (run scope)
inline constexpr MetricId kValidationChrf = 21;         ///< validation/chrf (run scope)
inline constexpr MetricId kValidationTop1 = 22;         ///< validation/top1, ratio (run scope)
inline constexpr MetricId kValidationTop5 = 23;         ///< validation/top5, ratio (run scope)
inline constexpr MetricId kValidationCer = 24;          ///< validation/cer, ratio (run scope)
inline constexpr MetricId kValidationWer = 25;          ///< validation/wer, ratio (run scope)
inline constexpr MetricId kGpuUtilization = 30;         ///< gpu/utilization, ratio 0..1
inline constexpr MetricId kGpuMemoryBytes = 31;         ///< gpu/memory_bytes
inline constexpr MetricId kGpuPowerW = 32;              ///< gpu/power_w
inline constexpr MetricId kGpuTemperatureC = 33;        ///< gpu/temperature_c
inline constexpr MetricId kRankCpu = 40;                ///< rank/cpu, cores busy
inline constexpr MetricId kRankMemoryBytes = 41;        ///< rank/memory_bytes, resident
inline constexpr MetricId kNodeCpu = 50;                ///< node/cpu, ratio 0..1
inline constexpr MetricId kNodeMemoryBytes = 51;        ///< node/memory_bytes, used
inline constexpr MetricId kNodeRxBytesPerS = 52;        ///< node/rx_bytes_per_s, all but loopback
inline constexpr MetricId kNodeTxBytesPerS = 53;        ///< node/tx_bytes_per_s
inline constexpr MetricId kNodeDiskReadBytesPerS = 54;  ///< node/disk_read_bytes_per_s
inline constexpr MetricId kNodeDiskWriteBytesPerS = 55; ///< node/disk_write_bytes_per_s
inline constexpr MetricId kFirstUser = 1000;            ///< ids from here on are a run's own
} // namespace metric

/// The metrics above, by ascending id: the one source for emitting, columns and axis labels.
std::span<const MetricDef> builtinMetrics();

/// The charts that the metrics above share, in the order in which they are shown.
std::span<const MetricPanel> metricPanels();

/// nullptr when there is no metric of this id or name.
const MetricDef* findBuiltinMetric(MetricId id);
const MetricDef* findBuiltinMetric(std::string_view name);

/// The definition of one of the ids above.
const MetricDef& builtinMetric(MetricId id);
const std::string& metricName(MetricId id);

/// The metrics above of one panel, by place.
std::vector<const MetricDef*> metricsOfPanel(std::string_view panel);

/// MetricDef::label and MetricDef::brief, or their defaults if empty.
std::string labelOf(const MetricDef& metric);
std::string briefOf(const MetricDef& metric);

/// Whether `value` is better than `than`; NaN is worse than anything. False where neither
/// direction is better.
bool isBetter(const MetricDef& metric, double value, double than);

/// Whether a name obeys the rule at MetricDef::name.
bool isValidMetricName(std::string_view name);

} // namespace rm
