// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/agent_client.h"
#include "app/core/run/procedures.h"

#include <stop_token>
#include <vector>

namespace rm {

// Each blocks until its nodes have answered, or until that is not wanted any more.

/// What a run has on its nodes, in their order. All nodes are asked at once; the error is that of
/// the first that does not answer.
Result<std::vector<RunFolder>> readRunFolders(const ProcedureContext& context, const QString& run,
                                              const std::vector<PlacedParty>& nodes,
                                              std::stop_token unwanted);

/// Deletes them, and notes what went with them. Where a node fails the others are cleaned all the
/// same, and the error names it.
Result<void> removeRunFolders(const ProcedureContext& context, const QString& run,
                              const std::vector<PlacedParty>& nodes, std::stop_token unwanted);

/// Compares every byte of a checkpoint (see findCheckpoint()) on the node of rank 0 with its
/// manifest. kCorrupt: what is wrong, or that it is not there any more.
Result<void> verifyCheckpoint(const ProcedureContext& context, const QString& run, const Node& node,
                              const std::string& which, std::stop_token unwanted);

} // namespace rm
