// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"
#include "trainer/agent/probe/gpus.h"
#include "trainer/agent/probe/sys_root.h"
#include "trainer/agent/run_dir/folders.h"

namespace rm {

/// The facts of this node, except NodeReport::otherAgents. A probe always answers: what cannot be
/// found out stays empty.
NodeReport probeNode(const Folders& folders, const SysRoot& root, const Gpus& gpus);

} // namespace rm
