// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/run_spec.h"
#include "shared/wire/slurm_report.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// The order of a job of Slurm.
struct JobOrder {
    std::string runId;
    std::string agent;                ///< its path on the cluster
    std::vector<int> ranks;           ///< of each part, one part a node
    bool onGpus = false;              ///< a GPU for each rank
    std::string runtime;              ///< of its trainer on GPUs
    std::string gpu;                  ///< the known kind of its GPUs: "a100"; empty: not known
    int cpusPerNode = 0;              ///< of the partition's nodes; 0: not known
    int gpusPerNode = 0;              ///< the same
    int64_t memoryMb = 0;             ///< the same
    std::vector<std::string> options; ///< for sbatch: the cluster's, then the run's
    std::vector<std::string> setup;   ///< lines of bash before the agents start
    std::vector<std::string> step =
        {}; ///< options of the srun that starts them, as bash reads them
    bool operator==(const JobOrder&) const = default;
};

/// The script for sbatch: a job that starts `ringmaster-agent in-job` on each of its nodes, is told
/// by SIGUSR1 two minutes before its time is over, and has Slurm start it again when its agents say
/// that the run goes on (kResumesInJob), unless somebody cancelled it. An option that is given
/// stands in for its own of that name, and one that asks for GPUs (--gres=gpu:..., --gpus and its
/// like; --gres=none: none) for --gpus-per-node.
std::string jobScript(const JobOrder& order);

/// The memory that a node of the job has for its ranks: what --mem asks for (the last one counts),
/// else all of the partition's largest nodes. 0: not known.
int64_t bytesOnNode(const JobOrder& order);

/// The kind of GPU that options for sbatch ask for, the last one counting: "v100" of
/// "--gres=gpu:v100:2" or "--gpus-per-node=v100:2"; empty: any, or several.
std::string gpuKindOf(const std::vector<std::string>& options);

/// Ranks on each node: `total` of them, `perNode` on each but the last. `total` 0: one full node.
std::vector<int> ranksByNode(int total, int perNode);

} // namespace rm
