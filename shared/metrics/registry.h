// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rm {

/// Stored in journals: never renumber.
enum class MetricKind : uint8_t {
    kGauge = 0,   ///< a value at a moment
    kCounter = 1, ///< only grows
};

/// Who has one series of it.
enum class MetricScope : uint8_t {
    kRun = 0,  ///< one series a run, emitted by rank 0
    kRank = 1, ///< one series a rank
    kNode = 2, ///< one series a node, stored under the node's first rank
};

using MetricId = uint16_t;

struct MetricDef {
    MetricId id = 0;
    std::string name; ///< "train/loss": [a-z0-9_./-], at most 64, with one '/'
    std::string unit; ///< "ms", "tokens/s", "ratio", "bytes", "" ...
    MetricKind kind = MetricKind::kGauge;
    MetricScope scope = MetricScope::kRank;
    std::string description; ///< one sentence

    bool operator==(const MetricDef&) const = default;
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

/// nullptr when there is none.
const MetricDef* findBuiltinMetric(MetricId id);
const MetricDef* findBuiltinMetric(std::string_view name);

/// Whether a name obeys the rule at MetricDef::name.
bool isValidMetricName(std::string_view name);

} // namespace rm
