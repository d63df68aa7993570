// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace rm {

/// torchrun's variables as a step of srun implies them, by name: rank, world, local rank, where the
/// ranks meet (the first node of the step, at a port that follows from job and step) and how often
/// Slurm has started the job again. Empty outside a step of srun: the variables of sbatch and
/// salloc alone say nothing about ranks. `get`: as getenv().
std::map<std::string, std::string> torchrunVariablesOfSlurm(const char* (*get)(const char*));

/// The first host of a list as Slurm writes it: "n1" of "n[1-2,5]", "gpu07" of "gpu[07-09],login".
std::string firstHostOf(const std::string& nodeList);

/// The tasks on a node by a list as Slurm writes it: 2 for the nodes 0 to 2 of "2(x3),1"; 0: it
/// says nothing of that node.
int tasksOnNode(const std::string& tasksPerNode, int node);

} // namespace rm
