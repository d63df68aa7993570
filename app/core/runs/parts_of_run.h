// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/plan.h"
#include "app/core/store/run_summary.h"

#include <string>
#include <vector>

namespace rm {

/// "It last trained on 2 of its 4 ranks, without node-b; it goes on with all." Empty: on all of
/// them. `last` as RunSummary::nodes, `whole` as StoreReader::wholePlaces().
std::string partWords(const std::vector<RunNode>& last, const std::vector<RunNode>& whole);

/// "Not all that node-b has of it was read, ...": before a run goes on from the newest checkpoint
/// that is known. Empty: all was read.
std::string unreadWords(const RunSummary& run);

/// Where a run is, as a launch has it. To resume, these are of StoreReader::wholePlaces().
std::vector<Placement> placementsOf(const std::vector<RunNode>& nodes);

} // namespace rm
