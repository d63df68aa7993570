// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"

namespace rm {

/// What a probe found, judged and in words: operating system, CPU and memory, GPUs, disk, clock,
/// network. `aheadNs`: by how much the node's clock is ahead of ours, known to `uncertainNs`.
std::vector<CheckRow> rowsOf(const NodeReport& report, int64_t aheadNs, int64_t uncertainNs);

} // namespace rm
