// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/probe/gpus.h"
#include "trainer/agent/probe/sys_root.h"
#include "trainer/agent/run_dir/folders.h"

#include <string>

namespace rm {

/// `probe`: what this node is, as one JSON object with the fields of NodeReport in snake case,
/// and kills_user_processes, slurm, agent, wire beside them.
std::string probeNode(const Folders& folders, const SysRoot& root, const Gpus& gpus);

} // namespace rm
