// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"

namespace rm {

/// Judges what a probe found, one row each for operating system, CPU and memory, GPUs, disk, clock
/// and network. `aheadNs`: how far the node's clock is ahead of ours, within `uncertainNs`.
std::vector<CheckRow> rowsOf(const NodeReport& report, int64_t aheadNs, int64_t uncertainNs);

} // namespace rm
