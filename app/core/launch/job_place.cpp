// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/job_place.h"

#include "app/core/findings/text.h"
#include "app/core/launch/job_script.h"
#include "shared/return_if_error.h"
#include "shared/wire/gpu_model.h"

namespace rm {

namespace {

std::string namesOf(const SlurmReport& report) {
    std::string names;
    for (const SlurmPartition& partition : report.partitions)
        append(names, partition.name, ", ");
    return names.empty() ? say("launch.none") : names;
}

} // namespace

std::vector<std::string> sbatchOptions(const Node& cluster, const RunSpec& spec) {
    std::vector<std::string> options = cluster.sbatch;
    options.insert(options.end(), spec.launch.sbatch.begin(), spec.launch.sbatch.end());
    return options;
}

Result<SlurmPartition> partitionOfJob(const Node& cluster, const RunSpec& spec,
                                      const SlurmReport& slurm) {
    const std::string wanted = partitionOf(sbatchOptions(cluster, spec));
    if (const SlurmPartition* partition = partitionCalled(slurm, wanted))
        return *partition;
    const Value all{"partitions", namesOf(slurm)};
    return fail(ErrorCode::kNotFound,
                wanted.empty() ? say("launch.no-default-partition", {all})
                               : say("launch.no-partition", {{"partition", wanted}, all}));
}

NodeReport reportInJob(NodeReport login, const SlurmPartition& partition,
                       const std::vector<std::string>& options) {
    login.cores = partition.cpusPerNode;
    login.driver.clear();
    login.runs.clear(); // nothing of the job shares the login node with them
    GpuReport gpu;
    const std::string requested = gpuKindOf(options);
    gpu.name = requested.empty() ? partition.gpu : requested;
    gpu.computeCapability = capabilityOfModel(gpu.name);
    login.gpus.assign(static_cast<size_t>(partition.gpusPerNode), gpu);
    return login;
}

Result<std::vector<int>> ranksInJob(const RunSpec& spec, const PlacedNode& one, int total,
                                    const std::string& device, const SlurmPartition& partition) {
    RM_ASSIGN_OR_RETURN(const auto perNode, countRanks(spec, {one}, device));
    std::vector<int> ranks = ranksByNode(total, perNode.front());
    if (static_cast<int>(ranks.size()) > partition.nodes)
        return fail(ErrorCode::kInvalid,
                    say("launch.partition-too-small", {{"ranks", std::to_string(total)},
                                                       {"node", one.node.name},
                                                       {"each", std::to_string(perNode.front())},
                                                       {"nodes", std::to_string(ranks.size())},
                                                       {"partition", partition.name},
                                                       {"most", std::to_string(partition.nodes)}}));
    return ranks;
}

} // namespace rm
