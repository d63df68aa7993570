// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <string>

namespace rm {

/// `fetch-checkpoint RUN_ID NODE`: brings a checkpoint of the run from the node of rank 0 here,
/// over a connection of its own to the run's leader (peers/channel.h), as one of kKeptCopies
/// copies. What lies here already, as nodes share the folder, is not brought. `order`: {"path",
/// "attempt", "step"}. Answers {"folder", "dropped", "bytes", "reason"}, {"shared"} if nothing was
/// brought, or {"problem"}: see fetchedCopy() in peers/copy_plan.h.
Result<std::string> fetchCheckpoint(const Folders& folders, const std::string& runId,
                                    int64_t nodeIndex, const std::string& order);

} // namespace rm
