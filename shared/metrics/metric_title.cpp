// SPDX-License-Identifier: Apache-2.0
#include "shared/metrics/metric_title.h"

#include <map>
#include <string_view>

namespace rm {

namespace {

/// In words, with the unit where they do not say it. Not in MetricDef, which journals store.
std::string_view titleOfBuiltin(MetricId id) {
    using namespace metric;
    static const std::map<MetricId, std::string_view> titles{
        {kTrainLoss, "Loss"},
        {kTrainLr, "Learning rate"},
        {kTrainGradNorm, "Gradient norm"},
        {kTrainTokensPerS, "Tokens a second"},
        {kTrainStepMs, "Step time (ms)"},
        {kValidationLoss, "Validation loss"},
        {kTrainImagesPerS, "Pictures a second"},
        {kTrainLossScale, "Loss scale"},
        {kTrainSkippedSteps, "Skipped steps"},
        {kPhaseDataMs, "Waiting for data (ms)"},
        {kPhaseForwardMs, "Forward pass (ms)"},
        {kPhaseBackwardMs, "Backward pass (ms)"},
        {kPhaseAllreduceMs, "Waiting for all-reduce (ms)"},
        {kPhaseOptimizerMs, "Optimizer step (ms)"},
        {kPhaseCheckpointMs, "Checkpoint stall (ms)"},
        {kDataBadSamples, "Bad samples"},
        {kTrainTflops, "Model operations (TFLOP/s)"},
        {kTrainMfu, "MFU"},
        {kValidationBleu, "BLEU"},
        {kValidationChrf, "chrF"},
        {kValidationTop1, "Top-1 accuracy"},
        {kValidationTop5, "Top-5 accuracy"},
        {kValidationCer, "CER"},
        {kValidationWer, "WER"},
        {kGpuUtilization, "GPU utilization"},
        {kGpuMemoryBytes, "GPU memory"},
        {kGpuPowerW, "GPU power (W)"},
        {kGpuTemperatureC, "GPU temperature (°C)"},
        {kRankCpu, "CPU cores, by rank"},
        {kRankMemoryBytes, "Memory, by rank"},
        {kNodeCpu, "CPU, by node"},
        {kNodeMemoryBytes, "Memory, by node"},
        {kNodeRxBytesPerS, "Network, received (bytes/s)"},
        {kNodeTxBytesPerS, "Network, sent (bytes/s)"},
        {kNodeDiskReadBytesPerS, "Disk, read (bytes/s)"},
        {kNodeDiskWriteBytesPerS, "Disk, written (bytes/s)"},
    };
    const auto found = titles.find(id);
    return found != titles.end() ? found->second : std::string_view();
}

} // namespace

std::string titleOf(const MetricDef& metric) {
    const MetricDef* ours = findBuiltinMetric(metric.name);
    if (ours)
        return std::string(titleOfBuiltin(ours->id));
    return metric.unit.empty() ? metric.name : metric.name + " (" + metric.unit + ')';
}

} // namespace rm
