// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/gpu_runtime.h"

#include <algorithm>
#include <cstdlib>

namespace rm {

namespace {

std::string architecture(int capability) {
    return "sm_" + std::to_string(capability);
}

std::string obstacleOf(const Runtime& runtime, const GpuReport& gpu) {
    const int has = gpu.computeCapability;
    if (has == 0 || (has >= runtime.leastCapability &&
                     (runtime.pastCapability == 0 || has < runtime.pastCapability)))
        return {};
    const bool isOld = has < runtime.leastCapability;
    return "its " + gpu.name + " is " + architecture(has) +
           (isOld ? ", and the oldest for " + runtime.name + " is " +
                        architecture(runtime.leastCapability)
                  : ", newer than all that " + runtime.name + " has code for");
}

bool hasCodeFor(const Runtime& runtime, const NodeReport& report) {
    return std::ranges::all_of(
        report.gpus, [&](const GpuReport& gpu) { return obstacleOf(runtime, gpu).empty(); });
}

} // namespace

const std::vector<Runtime>& gpuRuntimes() {
    static const std::vector<Runtime> all = {{"cuda13", 580, 75, 0}, {"cuda12", 525, 50, 100}};
    return all;
}

std::string obstacleTo(const Runtime& runtime, const NodeReport& report) {
    if (report.gpus.empty())
        return "it has no usable NVIDIA GPU";
    for (const GpuReport& gpu : report.gpus)
        if (std::string obstacle = obstacleOf(runtime, gpu); !obstacle.empty())
            return obstacle;
    const int driver = std::atoi(report.driver.c_str());
    return driver == 0 || driver >= runtime.leastDriver
               ? std::string()
               : "its driver " + report.driver + " is older than " +
                     std::to_string(runtime.leastDriver);
}

std::string whyNoRuntime(const NodeReport& report) {
    std::string why;
    bool isOfDriver = false; // which can be changed, and the older runtime asks for less
    for (const Runtime& runtime : gpuRuntimes()) {
        const std::string obstacle = obstacleTo(runtime, report);
        if (obstacle.empty())
            return {};
        const bool hasCode = hasCodeFor(runtime, report);
        if (hasCode || !isOfDriver)
            why = obstacle;
        isOfDriver |= hasCode;
    }
    return why;
}

int driverToInstall(const NodeReport& report) {
    int least = 0;
    for (const Runtime& runtime : gpuRuntimes()) {
        if (obstacleTo(runtime, report).empty())
            return 0;
        if (!report.gpus.empty() && hasCodeFor(runtime, report))
            least = runtime.leastDriver; // the older runtime, which comes later, asks for less
    }
    return least;
}

// GPUs before Ampere compute bfloat16 not at all or by detours that take several times as long.
std::string obstacleToPrecision(const std::string& precision, const NodeReport& report) {
    constexpr int kAmpere = 80;
    if (precision != "bfloat16")
        return {};
    for (const GpuReport& gpu : report.gpus)
        if (gpu.computeCapability > 0 && gpu.computeCapability < kAmpere)
            return "train.precision is \"bfloat16\", which its " + gpu.name + " (" +
                   architecture(gpu.computeCapability) +
                   ") does not have; take \"float16\" or \"float32\"";
    return {};
}

} // namespace rm
