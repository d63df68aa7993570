// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/job_gpus.h"

#include "shared/wire/gpu_runtime.h"

#include <algorithm>

namespace rm {

namespace {

NodeReport seenBy(const NodePlan& plan, const Gpus& gpus, const std::string& visibleDevices) {
    NodeReport seen;
    seen.driver = gpus.driver();
    for (int64_t rank = 0; rank < plan.localRanks; ++rank)
        if (const auto at = deviceOfRank(gpus, visibleDevices, static_cast<int>(rank)))
            seen.gpus.push_back(gpus.list()[*at]);
    return seen;
}

std::string whatToSet(const NodeReport& seen) {
    for (const Runtime& runtime : gpuRuntimes())
        if (obstacleTo(runtime, seen).empty())
            return "set launch.runtime = \"" + runtime.name + "\"";
    return "ask for other GPUs by launch.sbatch, or set launch.device = \"cpu\"";
}

} // namespace

std::string whyUnfit(const NodePlan& plan, const RunSpec& spec, const Gpus& gpus,
                     const std::string& visibleDevices) {
    if (plan.device != "cuda")
        return {};
    const NodeReport seen = seenBy(plan, gpus, visibleDevices);
    if (seen.gpus.empty()) // NVML is not there, or numbers them otherwise
        return {};
    const auto chosen = std::ranges::find(gpuRuntimes(), plan.runtime, &Runtime::name);
    if (chosen != gpuRuntimes().end())
        if (const std::string obstacle = obstacleTo(*chosen, seen); !obstacle.empty())
            return "the runtime " + chosen->name + " does not run on the GPUs that Slurm gave (" +
                   seen.gpus.front().name + ", driver " + seen.driver + "), as " + obstacle + "; " +
                   whatToSet(seen);
    // A run that resumes keeps its precision, with which it has trained before.
    return plan.startFrom.empty() ? obstacleToPrecision(spec.train.precision, seen) : std::string();
}

} // namespace rm
