// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "shared/wire/slurm_report.h"

#include <string>
#include <vector>

namespace rm {

/// Judges what a probe found, one row each for operating system, CPU and memory, GPUs, disk, clock
/// and network. `aheadNs`: how far the node's clock is ahead of ours, within `uncertainNs`.
std::vector<CheckRow> rowsOf(const NodeReport& report, int64_t aheadNs, int64_t uncertainNs);

/// What a Slurm cluster offers: its version, and a row for each partition. `wanted`: the partition
/// that the cluster's jobs ask for; empty: its default one. Bad where there is none such, or it is
/// closed.
std::vector<CheckRow> rowsOfSlurm(const SlurmReport& report, const std::string& wanted);

} // namespace rm
