// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/run_checkpoints.h"

#include "shared/checkpoint/owner.h"
#include "shared/return_if_error.h"
#include "shared/spec/run_spec.h"
#include "trainer/agent/run_dir/run_dir.h"

#include <algorithm>

namespace rm {

// Relative to the run directory, which is the folder that a rank works in.
Result<std::string> checkpointFolder(const std::string& runDir) {
    RM_ASSIGN_OR_RETURN(const RunSpec spec, loadRunSpec(runDir + "/spec.toml"));
    const std::string& folder = spec.checkpoint.directory;
    if (folder.starts_with('/'))
        return folder;
    return runDir + "/" + (folder.empty() ? "checkpoints" : folder);
}

const CheckpointEntry* RunCheckpoints::newest() const {
    const CheckpointEntry* found = nullptr;
    for (const CheckpointEntry& entry : entries)
        if (!isRetired(entry) && (!found || found->manifest.step <= entry.manifest.step))
            found = &entry;
    return found;
}

Result<RunCheckpoints> readCheckpoints(const std::string& runDir) {
    RM_ASSIGN_OR_RETURN(const std::string folder, checkpointFolder(runDir));
    RM_ASSIGN_OR_RETURN(auto entries, listCheckpoints(folder));
    RM_ASSIGN_OR_RETURN(const NodePlan plan, loadPlan(runDir));
    // An attempt that has begun knows where it started, which need not be where it was to.
    const auto owner = readOwner(folder);
    const bool hasBegun =
        owner && owner->runId == plan.runId && owner->line.attempt == plan.attempt;
    CheckpointLine line = hasBegun ? owner->line : lineOf(entries, plan.attempt, plan.startFrom);
    return RunCheckpoints{std::move(entries), std::move(line)};
}

} // namespace rm
