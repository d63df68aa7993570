// SPDX-License-Identifier: Apache-2.0
#include "shared/metrics/registry.h"

#include "shared/enforce.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace rm {

namespace {

/// The metrics that training and validation report.
std::vector<MetricDef> runMetrics() {
    using namespace metric;
    return {
        {.id = kTrainLoss,
         .name = "train/loss",
         .description = "Mean loss over the tokens of this rank.",
         .direction = MetricDirection::kLower,
         .ranks = MetricRanks::kMean,
         .smooth = true,
         .panel = "loss"},
        {.id = kTrainLr,
         .name = "train/lr",
         .description = "Learning rate of this step.",
         .ranks = MetricRanks::kFirst,
         .panel = "lr"},
        {.id = kTrainGradNorm,
         .name = "train/grad_norm",
         .description = "L2 norm of all gradients before clipping.",
         .ranks = MetricRanks::kFirst,
         .smooth = true,
         .panel = "grad_norm"},
        {.id = kTrainTokensPerS,
         .name = "train/tokens_per_s",
         .unit = "tokens/s",
         .description = "Tokens this rank trains on in a second.",
         .direction = MetricDirection::kHigher,
         .panel = "throughput"},
        {.id = kTrainStepMs,
         .name = "train/step_ms",
         .unit = "ms",
         .description = "Time of one step.",
         .direction = MetricDirection::kLower,
         .panel = "step_time"},
        {.id = kValidationLoss,
         .name = "validation/loss",
         .scope = MetricScope::kRun,
         .description = "Mean loss over the validation batches.",
         .direction = MetricDirection::kLower,
         .ranks = MetricRanks::kFirst,
         .panel = "loss",
         .place = 1,
         .label = "validation"},
        {.id = kTrainImagesPerS,
         .name = "train/images_per_s",
         .unit = "images/s",
         .description = "Pictures this rank trains on in a second.",
         .direction = MetricDirection::kHigher,
         .panel = "throughput",
         .place = 1},
        {.id = kTrainLossScale,
         .name = "train/loss_scale",
         .scope = MetricScope::kRun,
         .description = "What the loss is multiplied by so that float16 holds its gradients.",
         .ranks = MetricRanks::kFirst,
         .panel = "loss_scale"},
        {.id = kTrainSkippedSteps,
         .name = "train/skipped_steps",
         .unit = "steps",
         .kind = MetricKind::kCounter,
         .scope = MetricScope::kRun,
         .description = "Updates left out because the gradients were not finite.",
         .direction = MetricDirection::kLower,
         .ranks = MetricRanks::kFirst,
         .panel = "skipped_steps"},
        {.id = kPhaseDataMs,
         .name = "phase/data_ms",
         .unit = "ms",
         .description = "Waiting for the batch.",
         .direction = MetricDirection::kLower,
         .ranks = MetricRanks::kMean,
         .smooth = true,
         .panel = "phases",
         .label = "data"},
        {.id = kPhaseForwardMs,
         .name = "phase/forward_ms",
         .unit = "ms",
         .description = "Forward pass.",
         .direction = MetricDirection::kLower,
         .ranks = MetricRanks::kMean,
         .smooth = true,
         .panel = "phases",
         .place = 1,
         .label = "forward",
         .brief = "fwd"},
        {.id = kPhaseBackwardMs,
         .name = "phase/backward_ms",
         .unit = "ms",
         .description = "Backward pass without waiting for other ranks.",
         .direction = MetricDirection::kLower,
         .ranks = MetricRanks::kMean,
         .smooth = true,
         .panel = "phases",
         .place = 2,
         .label = "backward",
         .brief = "bwd"},
        {.id = kPhaseAllreduceMs,
         .name = "phase/allreduce_ms",
         .unit = "ms",
         .description = "Waiting for other ranks that computing did not hide.",
         .direction = MetricDirection::kLower,
         .ranks = MetricRanks::kMean,
         .smooth = true,
         .panel = "phases",
         .place = 3,
         .label = "all-reduce",
         .brief = "comm"},
        {.id = kPhaseOptimizerMs,
         .name = "phase/optimizer_ms",
         .unit = "ms",
         .description = "Clipping and the optimizer's step.",
         .direction = MetricDirection::kLower,
         .ranks = MetricRanks::kMean,
         .smooth = true,
         .panel = "phases",
         .place = 4,
         .label = "optimizer",
         .brief = "opt"},
        {.id = kPhaseCheckpointMs,
         .name = "phase/checkpoint_ms",
         .unit = "ms",
         .description = "How long a checkpoint stalled the loop.",
         .direction = MetricDirection::kLower,
         .panel = "checkpoint"},
        {.id = kDataBadSamples,
         .name = "data/bad_samples",
         .unit = "samples",
         .kind = MetricKind::kCounter,
         .description = "Samples left out because they could not be read.",
         .direction = MetricDirection::kLower,
         .panel = "bad_samples"},
        {.id = kTrainTflops,
         .name = "train/tflops",
         .unit = "TFLOP/s",
         .description = "Operations of the model's matrix products that this rank does in a "
                        "second, in 10^12, without what it computes again.",
         .direction = MetricDirection::kHigher,
         .panel = "tflops"},
        {.id = kTrainMfu,
         .name = "train/mfu",
         .unit = "ratio",
         .description = "These operations as a share of what the GPU can do in this precision "
                        "by its data sheet: model FLOPs utilization.",
         .direction = MetricDirection::kHigher,
         .format = MetricFormat::kPercent,
         .panel = "mfu"},
        {.id = kValidationBleu,
         .name = "validation/bleu",
         .scope = MetricScope::kRun,
         .description = "BLEU of the translations, 0 to 100, as sacreBLEU counts it.",
         .direction = MetricDirection::kHigher,
         .ranks = MetricRanks::kFirst,
         .panel = "quality"},
        {.id = kValidationChrf,
         .name = "validation/chrf",
         .scope = MetricScope::kRun,
         .description = "chrF of the translations, 0 to 100, as sacreBLEU counts it.",
         .direction = MetricDirection::kHigher,
         .ranks = MetricRanks::kFirst,
         .panel = "quality",
         .place = 1},
        {.id = kValidationTop1,
         .name = "validation/top1",
         .unit = "ratio",
         .scope = MetricScope::kRun,
         .description = "Share of pictures whose class came first.",
         .direction = MetricDirection::kHigher,
         .ranks = MetricRanks::kFirst,
         .panel = "quality",
         .place = 4},
        {.id = kValidationTop5,
         .name = "validation/top5",
         .unit = "ratio",
         .scope = MetricScope::kRun,
         .description = "Share of pictures whose class was among the first five.",
         .direction = MetricDirection::kHigher,
         .ranks = MetricRanks::kFirst,
         .panel = "quality",
         .place = 5},
        {.id = kValidationCer,
         .name = "validation/cer",
         .unit = "ratio",
         .scope = MetricScope::kRun,
         .description =
             "Characters to change in the translations, by the length of the references.",
         .direction = MetricDirection::kLower,
         .ranks = MetricRanks::kFirst,
         .panel = "quality",
         .place = 2},
        {.id = kValidationWer,
         .name = "validation/wer",
         .unit = "ratio",
         .scope = MetricScope::kRun,
         .description = "Words to change in the translations, by the length of the references.",
         .direction = MetricDirection::kLower,
         .ranks = MetricRanks::kFirst,
         .panel = "quality",
         .place = 3},
    };
}

/// The metrics that the agents sample on the machines.
std::vector<MetricDef> machineMetrics() {
    using namespace metric;
    return {
        {.id = kGpuUtilization,
         .name = "gpu/utilization",
         .unit = "ratio",
         .description =
             "Share of time in which a kernel ran; waiting for other ranks counts as running.",
         .clock = MetricClock::kWall,
         .direction = MetricDirection::kHigher,
         .format = MetricFormat::kPercent,
         .panel = "gpu"},
        {.id = kGpuMemoryBytes,
         .name = "gpu/memory_bytes",
         .unit = "bytes",
         .description = "GPU memory in use.",
         .clock = MetricClock::kWall,
         .format = MetricFormat::kBytes,
         .panel = "gpu_memory"},
        {.id = kGpuPowerW,
         .name = "gpu/power_w",
         .unit = "W",
         .description = "Power that the GPU draws.",
         .clock = MetricClock::kWall,
         .panel = "gpu_power"},
        {.id = kGpuTemperatureC,
         .name = "gpu/temperature_c",
         .unit = "°C",
         .description = "Temperature of the GPU.",
         .clock = MetricClock::kWall,
         .panel = "gpu_temperature"},
        {.id = kRankCpu,
         .name = "rank/cpu",
         .unit = "cores",
         .description = "CPU cores that the rank keeps busy.",
         .clock = MetricClock::kWall,
         .panel = "rank_cpu"},
        {.id = kRankMemoryBytes,
         .name = "rank/memory_bytes",
         .unit = "bytes",
         .description = "Resident memory of the rank.",
         .clock = MetricClock::kWall,
         .format = MetricFormat::kBytes,
         .panel = "rank_memory"},
        {.id = kNodeCpu,
         .name = "node/cpu",
         .unit = "ratio",
         .scope = MetricScope::kNode,
         .description = "Share of the node's CPU time in use.",
         .clock = MetricClock::kWall,
         .format = MetricFormat::kPercent,
         .panel = "node_cpu"},
        {.id = kNodeMemoryBytes,
         .name = "node/memory_bytes",
         .unit = "bytes",
         .scope = MetricScope::kNode,
         .description = "Memory of the node in use.",
         .clock = MetricClock::kWall,
         .format = MetricFormat::kBytes,
         .panel = "node_memory"},
        {.id = kNodeRxBytesPerS,
         .name = "node/rx_bytes_per_s",
         .unit = "bytes/s",
         .scope = MetricScope::kNode,
         .description = "Received by all interfaces but loopback.",
         .clock = MetricClock::kWall,
         .panel = "network",
         .label = "received"},
        {.id = kNodeTxBytesPerS,
         .name = "node/tx_bytes_per_s",
         .unit = "bytes/s",
         .scope = MetricScope::kNode,
         .description = "Sent by all interfaces but loopback.",
         .clock = MetricClock::kWall,
         .panel = "network",
         .place = 1,
         .label = "sent"},
        {.id = kNodeDiskReadBytesPerS,
         .name = "node/disk_read_bytes_per_s",
         .unit = "bytes/s",
         .scope = MetricScope::kNode,
         .description = "Read from the node's disks.",
         .clock = MetricClock::kWall,
         .panel = "disk",
         .label = "read"},
        {.id = kNodeDiskWriteBytesPerS,
         .name = "node/disk_write_bytes_per_s",
         .unit = "bytes/s",
         .scope = MetricScope::kNode,
         .description = "Written to the node's disks.",
         .clock = MetricClock::kWall,
         .panel = "disk",
         .place = 1,
         .label = "written"},
    };
}

std::vector<MetricPanel> makePanels() {
    return {
        {.key = "loss", .title = "Loss", .isMain = true, .isStanding = true},
        {.key = "quality", .title = "Validation: %1", .colour = 3, .isMain = true},
        {.key = "lr",
         .title = "Learning rate",
         .colour = 2,
         .fromZero = true,
         .canBeLog = false,
         .isMain = true,
         .isStanding = true},
        {.key = "grad_norm",
         .title = "Gradient norm",
         .colour = 4,
         .isMain = true,
         .isStanding = true},
        {.key = "throughput",
         .title = "%1, by rank",
         .colour = 5,
         .fromZero = true,
         .hasPast = false,
         .isMain = true,
         .isStanding = true},
        {.key = "phases",
         .title = "Phases of a step (ms)",
         .fromZero = true,
         .hasPast = false,
         .isMain = true,
         .isStanding = true},
        {.key = "step_time", .title = "Step time (ms)", .fromZero = true, .hasPast = false},
        {.key = "tflops",
         .title = "Model operations by rank (TFLOP/s)",
         .fromZero = true,
         .hasPast = false},
        {.key = "mfu", .title = "MFU, by rank", .fromZero = true, .hasPast = false},
        {.key = "gpu", .title = "GPU utilization", .fromZero = true, .hasPast = false},
        {.key = "gpu_memory", .title = "GPU memory", .fromZero = true, .hasPast = false},
        {.key = "gpu_power", .title = "GPU power (W)", .fromZero = true, .hasPast = false},
        {.key = "gpu_temperature", .title = "GPU temperature (°C)", .hasPast = false},
        {.key = "rank_cpu", .title = "CPU cores, by rank", .fromZero = true, .hasPast = false},
        {.key = "rank_memory", .title = "Memory, by rank", .fromZero = true, .hasPast = false},
        {.key = "node_cpu", .title = "CPU, by node", .fromZero = true, .hasPast = false},
        {.key = "node_memory", .title = "Memory, by node", .fromZero = true, .hasPast = false},
        {.key = "network", .title = "Network (bytes/s)", .fromZero = true, .hasPast = false},
        {.key = "disk", .title = "Disk (bytes/s)", .fromZero = true, .hasPast = false},
        {.key = "checkpoint", .title = "Checkpoint stall (ms)", .fromZero = true, .hasPast = false},
        {.key = "loss_scale", .title = "Loss scale"},
        {.key = "skipped_steps", .title = "Skipped steps", .fromZero = true},
        {.key = "bad_samples", .title = "Bad samples", .fromZero = true, .hasPast = false},
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

std::span<const MetricPanel> metricPanels() {
    static const std::vector<MetricPanel> panels = makePanels();
    return panels;
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

const MetricDef& builtinMetric(MetricId id) {
    const MetricDef* metric = findBuiltinMetric(id);
    RM_ENFORCE(metric);
    return *metric;
}

const std::string& metricName(MetricId id) {
    return builtinMetric(id).name;
}

std::vector<const MetricDef*> metricsOfPanel(std::string_view panel) {
    std::vector<const MetricDef*> found;
    for (const MetricDef& metric : builtinMetrics())
        if (metric.panel == panel)
            found.push_back(&metric);
    std::ranges::stable_sort(found, {}, &MetricDef::place);
    return found;
}

std::string labelOf(const MetricDef& metric) {
    return metric.label.empty() ? metric.name.substr(metric.name.find('/') + 1) : metric.label;
}

std::string briefOf(const MetricDef& metric) {
    return metric.brief.empty() ? labelOf(metric) : metric.brief;
}

bool isBetter(const MetricDef& metric, double value, double than) {
    if (metric.direction == MetricDirection::kNeither || std::isnan(value))
        return false;
    if (std::isnan(than))
        return true;
    return metric.direction == MetricDirection::kLower ? value < than : value > than;
}

bool isValidMetricName(std::string_view name) {
    constexpr size_t kMaxName = 64;
    return name.size() >= 3 && name.size() <= kMaxName && name.front() != '/' &&
           name.back() != '/' && std::ranges::count(name, '/') == 1 &&
           std::ranges::all_of(name, isNameCharacter);
}

} // namespace rm
