// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/plan.h"
#include "shared/wire/slurm_report.h"

#include <string>
#include <vector>

namespace rm {

// Where the ranks of a job of Slurm will be, as far as its login node can tell. What the window
// judges before a launch and what SlurmLauncher hands in are both found here.

/// The options for sbatch of the run's job: the cluster's, then the run's, which win.
std::vector<std::string> sbatchOptions(const Node& cluster, const RunSpec& spec);

/// The partition to which that job goes. kNotFound names the partitions that there are.
Result<SlurmPartition> partitionOfJob(const Node& cluster, const RunSpec& spec,
                                      const SlurmReport& slurm);

/// The report of the job's nodes for ranks with those options: folders as the login node has them,
/// GPUs and processors as Slurm knows them of the partition's largest nodes. GPUs are of the kind
/// that the options ask for, else of the partition's; its name tells the compute capability.
/// What Slurm does not tell is unknown, as after a probe that did not find out.
NodeReport reportInJob(NodeReport login, const SlurmPartition& partition,
                       const std::vector<std::string>& options);

/// The ranks on each of the job's nodes: `total` in all (0: those of one node), and on each as the
/// spec says, else one per GPU, else one. `one` stands for each of the nodes, with reportInJob().
/// kInvalid: they do not fit into the partition.
Result<std::vector<int>> ranksInJob(const RunSpec& spec, const PlacedNode& one, int total,
                                    const std::string& device, const SlurmPartition& partition);

} // namespace rm
