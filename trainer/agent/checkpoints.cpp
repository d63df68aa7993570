// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/checkpoints.h"

#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/owner.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"
#include "shared/spec/run_spec.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/supervisor/lost_attempt.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace rm {

namespace {

using nlohmann::json;

// Relative to the run directory, which is the folder that a rank works in.
Result<std::string> checkpointFolder(const std::string& runDir) {
    RM_ASSIGN_OR_RETURN(const RunSpec spec, loadRunSpec(runDir + "/spec.toml"));
    const std::string& folder = spec.checkpoint.directory;
    if (folder.starts_with('/'))
        return folder;
    return runDir + "/" + (folder.empty() ? "checkpoints" : folder);
}

/// A run's checkpoints, and the line of its newest attempt.
struct RunCheckpoints {
    std::vector<CheckpointEntry> entries;
    CheckpointLine line;

    bool isRetired(const CheckpointEntry& entry) const { return !line.has(entry.manifest); }
};

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

/// Journals the removal, except while a supervisor writes the journal; then only the caller stores
/// it.
Result<void> noteRemoved(const std::string& runDir, const CheckpointEntry& entry) {
    const Result<RunLock> lock = RunLock::take(runDir);
    const Result<NodePlan> plan = loadPlan(runDir);
    if (!lock || !plan)
        return {};
    RM_ASSIGN_OR_RETURN(auto journal, beginNodeJournal(runDir, plan->nodeIndex, plan->attempt));
    journal.append(CheckpointRemoved{entry.manifest.step, wallNowNs(), entry.path});
    return journal.sync();
}

} // namespace

Result<std::string> verifyCheckpointAt(const std::string& path) {
    const Result<Manifest> verified = verifyCheckpoint(path);
    const bool isVerdict = verified || verified.error().code == ErrorCode::kCorrupt ||
                           verified.error().code == ErrorCode::kNotFound;
    if (!isVerdict)
        return tl::unexpected(verified.error());
    const json verdict = {{"whole", verified.has_value()},
                          {"problem", verified ? "" : verified.error().message}};
    return verdict.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<std::string> removeRetiredCheckpoint(const Folders& folders, const std::string& runId,
                                            const std::string& name) {
    const std::string attempt = "remove checkpoint " + name + " of " + runId;
    // Rank 0, whose checkpoints they are, is on the first node.
    const Result<std::string> runDir = folders.existingPartDir(runId, 0);
    if (!runDir)
        return runDir;
    const Result<RunCheckpoints> found = readCheckpoints(*runDir);
    if (!found)
        return failAs(attempt, found.error());
    const auto entry =
        std::find_if(found->entries.begin(), found->entries.end(), [&](const CheckpointEntry& e) {
            return std::filesystem::path(e.path).filename() == name;
        });
    if (entry == found->entries.end())
        return fail(ErrorCode::kNotFound, attempt + ": there is no such checkpoint");
    if (!found->isRetired(*entry))
        return fail(ErrorCode::kInvalid,
                    attempt + ": the run goes on from it; only those of abandoned lines can be "
                              "removed, and checkpoint.keep_last says how many others stay");
    if (const Result<void> removed = removeCheckpoint(entry->path); !removed)
        return failAs(attempt, removed.error());
    if (const Result<void> noted = noteRemoved(*runDir, *entry); !noted)
        return failAs(attempt, noted.error());
    return json{{"removed", entry->path}}.dump(-1, ' ', false, json::error_handler_t::replace) +
           "\n";
}

} // namespace rm
