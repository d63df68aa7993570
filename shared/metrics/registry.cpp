// SPDX-License-Identifier: Apache-2.0
#include "shared/metrics/registry.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace rm {

namespace {

constexpr auto kRun = MetricScope::kRun;
constexpr auto kRank = MetricScope::kRank;
constexpr auto kNode = MetricScope::kNode;
constexpr auto kGauge = MetricKind::kGauge;
constexpr auto kCounter = MetricKind::kCounter;

/// What training and validation report.
std::vector<MetricDef> runMetrics() {
    using namespace metric;
    return {
        {kTrainLoss, "train/loss", "", kGauge, kRank, "Mean loss over the tokens of this rank."},
        {kTrainLr, "train/lr", "", kGauge, kRank, "Learning rate of this step."},
        {kTrainGradNorm, "train/grad_norm", "", kGauge, kRank,
         "L2 norm of all gradients before clipping."},
        {kTrainTokensPerS, "train/tokens_per_s", "tokens/s", kGauge, kRank,
         "Tokens this rank trains on in a second."},
        {kTrainStepMs, "train/step_ms", "ms", kGauge, kRank, "Time of one step."},
        {kValidationLoss, "validation/loss", "", kGauge, kRun,
         "Mean loss over the validation batches."},
        {kTrainImagesPerS, "train/images_per_s", "images/s", kGauge, kRank,
         "Pictures this rank trains on in a second."},
        {kTrainLossScale, "train/loss_scale", "", kGauge, kRun,
         "What the loss is multiplied by so that float16 holds its gradients."},
        {kTrainSkippedSteps, "train/skipped_steps", "steps", kCounter, kRun,
         "Updates left out because the gradients were not finite."},
        {kPhaseDataMs, "phase/data_ms", "ms", kGauge, kRank, "Waiting for the batch."},
        {kPhaseForwardMs, "phase/forward_ms", "ms", kGauge, kRank, "Forward pass."},
        {kPhaseBackwardMs, "phase/backward_ms", "ms", kGauge, kRank,
         "Backward pass without waiting for other ranks."},
        {kPhaseAllreduceMs, "phase/allreduce_ms", "ms", kGauge, kRank,
         "Waiting for other ranks that computing did not hide."},
        {kPhaseOptimizerMs, "phase/optimizer_ms", "ms", kGauge, kRank,
         "Clipping and the optimizer's step."},
        {kPhaseCheckpointMs, "phase/checkpoint_ms", "ms", kGauge, kRank,
         "How long a checkpoint stalled the loop."},
        {kDataBadSamples, "data/bad_samples", "samples", kCounter, kRank,
         "Samples left out because they could not be read."},
        {kValidationBleu, "validation/bleu", "", kGauge, kRun,
         "BLEU of the translations, 0 to 100, as sacreBLEU counts it."},
        {kValidationChrf, "validation/chrf", "", kGauge, kRun,
         "chrF of the translations, 0 to 100, as sacreBLEU counts it."},
        {kValidationTop1, "validation/top1", "ratio", kGauge, kRun,
         "Share of pictures whose class came first."},
        {kValidationTop5, "validation/top5", "ratio", kGauge, kRun,
         "Share of pictures whose class was among the first five."},
        {kValidationCer, "validation/cer", "ratio", kGauge, kRun,
         "Characters to change in the translations, by the length of the references."},
        {kValidationWer, "validation/wer", "ratio", kGauge, kRun,
         "Words to change in the translations, by the length of the references."},
    };
}

/// What is sampled of the machines meanwhile.
std::vector<MetricDef> machineMetrics() {
    using namespace metric;
    return {
        {kGpuUtilization, "gpu/utilization", "ratio", kGauge, kRank,
         "Share of time in which a kernel ran; waiting for other ranks counts as running."},
        {kGpuMemoryBytes, "gpu/memory_bytes", "bytes", kGauge, kRank, "GPU memory in use."},
        {kGpuPowerW, "gpu/power_w", "W", kGauge, kRank, "Power that the GPU draws."},
        {kGpuTemperatureC, "gpu/temperature_c", "°C", kGauge, kRank, "Temperature of the GPU."},
        {kRankCpu, "rank/cpu", "cores", kGauge, kRank, "CPU cores that the rank keeps busy."},
        {kRankMemoryBytes, "rank/memory_bytes", "bytes", kGauge, kRank,
         "Resident memory of the rank."},
        {kNodeCpu, "node/cpu", "ratio", kGauge, kNode, "Share of the node's CPU time in use."},
        {kNodeMemoryBytes, "node/memory_bytes", "bytes", kGauge, kNode,
         "Memory of the node in use."},
        {kNodeRxBytesPerS, "node/rx_bytes_per_s", "bytes/s", kGauge, kNode,
         "Received by all interfaces but loopback."},
        {kNodeTxBytesPerS, "node/tx_bytes_per_s", "bytes/s", kGauge, kNode,
         "Sent by all interfaces but loopback."},
        {kNodeDiskReadBytesPerS, "node/disk_read_bytes_per_s", "bytes/s", kGauge, kNode,
         "Read from the node's disks."},
        {kNodeDiskWriteBytesPerS, "node/disk_write_bytes_per_s", "bytes/s", kGauge, kNode,
         "Written to the node's disks."},
    };
}

bool isNameCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '/' ||
           c == '-';
}

std::vector<MetricDef> makeBuiltins() {
    std::vector<MetricDef> all = runMetrics();
    std::ranges::move(machineMetrics(), std::back_inserter(all));
    return all;
}

} // namespace

std::span<const MetricDef> builtinMetrics() {
    static const std::vector<MetricDef> metrics = makeBuiltins();
    return metrics;
}

const MetricDef* findBuiltinMetric(MetricId id) {
    const auto metrics = builtinMetrics();
    const auto found = std::ranges::lower_bound(metrics, id, {}, &MetricDef::id);
    return found != metrics.end() && found->id == id ? &*found : nullptr;
}

const MetricDef* findBuiltinMetric(std::string_view name) {
    const auto metrics = builtinMetrics();
    const auto found = std::ranges::find(metrics, name, &MetricDef::name);
    return found != metrics.end() ? &*found : nullptr;
}

bool isValidMetricName(std::string_view name) {
    constexpr size_t kMaxName = 64;
    return name.size() >= 3 && name.size() <= kMaxName && name.front() != '/' &&
           name.back() != '/' && std::ranges::count(name, '/') == 1 &&
           std::ranges::all_of(name, isNameCharacter);
}

} // namespace rm
