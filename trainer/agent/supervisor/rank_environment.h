// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/node_plan.h"
#include "shared/spec/run_spec.h"

#include <map>
#include <string>
#include <vector>

namespace rm {

using Environment = std::map<std::string, std::string>;

/// The environment of this process.
Environment currentEnvironment();

/// The environment of the trainer on this node, as a rank or not: the plan's variables, and from
/// `inherited` only what a login may decide: user, locale, time zone, temporary folder, visible
/// devices, and the variables of XDG, Slurm, NVIDIA, NCCL, Ringmaster and the sanitizers. Search
/// paths for programs and libraries are never taken from the login.
Environment nodeEnvironment(const Environment& inherited, const NodePlan& plan);

/// The environment of one rank: nodeEnvironment(), the spec's threads and torchrun's variables.
Environment rankEnvironment(const Environment& inherited, const NodePlan& plan, const RunSpec& spec,
                            int localRank);

/// CUDA_VISIBLE_DEVICES of the ranks that this process would start; empty: all.
std::string visibleDevices(const NodePlan& plan, const RunSpec& spec);

/// The command line of a rank.
std::vector<std::string> rankCommand(const NodePlan& plan, const std::string& runDir);

} // namespace rm
