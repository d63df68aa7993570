// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/runtime.h"

#include "app/core/deploy/deploy.h"

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
           (isOld ? ", and the oldest that runs is " + architecture(runtime.leastCapability)
                  : ", newer than all that it has code for");
}

} // namespace

const std::vector<Runtime>& gpuRuntimes() {
    static const std::vector<Runtime> all = {{"cuda13", 580, 75, 0}, {"cuda12", 525, 50, 100}};
    return all;
}

bool isInstalled(const Runtime& runtime) {
    return trainerBundle(runtime.name).has_value();
}

std::string obstacleTo(const Runtime& runtime, const NodeReport& report) {
    if (report.gpus.empty())
        return "it has no usable NVIDIA GPU";
    if (const int has = std::atoi(report.driver.c_str()); has > 0 && has < runtime.leastDriver)
        return "its driver " + report.driver + " is older than " +
               std::to_string(runtime.leastDriver);
    for (const GpuReport& gpu : report.gpus)
        if (std::string obstacle = obstacleOf(runtime, gpu); !obstacle.empty())
            return obstacle;
    return {};
}

bool hasUsableGpus(const NodeReport& report) {
    return std::ranges::any_of(
        gpuRuntimes(), [&](const Runtime& runtime) { return obstacleTo(runtime, report).empty(); });
}

} // namespace rm
