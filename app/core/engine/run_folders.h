// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/agent_client.h"
#include "app/core/launch/launcher.h"
#include "app/core/runs/procedure_context.h"

#include <stop_token>
#include <vector>

namespace rm {

// Each blocks until its nodes have answered, or until that is not wanted any more.

/// Where a run was, in any of its attempts.
struct PlacesToClean {
    std::vector<PlacedParty> nodes;     ///< those of the last attempt, then those of earlier ones
    size_t needed = 0;                  ///< how many are of the last attempt
    std::vector<std::string> forgotten; ///< earlier nodes that are not in the list any more
};

/// What a run has on its nodes, in their order. All nodes are asked at once; the error is that of
/// the first node of the last attempt that does not answer. For others RunFolder::problem tells it.
Result<std::vector<RunFolder>> readRunFolders(const ProcedureContext& context, const QString& run,
                                              const PlacesToClean& places,
                                              std::stop_token unwanted);

/// Deletes the run's folders, and notes what went with them. Where a node fails the others are
/// cleaned all the same, and the error names it.
Result<void> removeRunFolders(const ProcedureContext& context, const QString& run,
                              const PlacesToClean& places, std::stop_token unwanted);

} // namespace rm
