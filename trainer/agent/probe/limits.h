// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"
#include "trainer/agent/probe/sys_root.h"

namespace rm {

/// Fills in what a process of this login may have, which the ranks inherit: locked memory, open
/// files, /dev/shm; and the devices of InfiniBand and RoCE.
void readLimits(const SysRoot& root, NodeReport& report);

} // namespace rm
