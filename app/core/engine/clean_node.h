// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/node_cleaning.h"
#include "app/core/launch/host_worker.h"
#include "app/core/launch/launcher.h"
#include "app/core/runs/procedure_context.h"

#include <stop_token>
#include <string>
#include <vector>

namespace rm {

/// What was deployed to the node, after the removal of what nothing needs unless that is a preview.
/// What this release would deploy there stays. Blocks until the node has answered, or until that is
/// not wanted any more. kUnavailable: it cannot be reached, or is receiving files.
Result<DeployedReport> cleanNode(HostPool& hosts, const Node& node, const NodeCleaning& cleaning,
                                 std::stop_token unwanted);

/// Notes that no run has a folder on these nodes any more, as they have lost the folder of runs
/// that `report` names; after an uninstall that ended in the middle, only of the runs that went.
Result<void> noteRunsRemoved(const ProcedureContext& context, const DeployedReport& report,
                             const std::vector<std::string>& nodes);

/// Kills what lives of these runs on the node; a run that has ended is fine. kNotFound: the node
/// knows no such run. kInvalid, before anything is killed: one of `guarded` lives. Blocks as
/// cleanNode() does.
Result<void> endLeftovers(HostPool& hosts, const Node& node, const std::vector<std::string>& runs,
                          const std::vector<std::string>& guarded, std::stop_token unwanted);

} // namespace rm
