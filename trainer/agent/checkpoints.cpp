// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/checkpoints.h"

#include "shared/checkpoint/compare.h"
#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/owner.h"
#include "shared/checkpoint/reasons.h"
#include "shared/checkpoint/saved_runs.h"
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "trainer/agent/run_dir/run_checkpoints.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/supervisor/lost_attempt.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace rm {

namespace {

using nlohmann::json;

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

/// What is known of the folder in which that one lies.
const char* folderNameOf(const std::string& checkpoint) {
    return nameOf(checkpointFolderAt(std::filesystem::path(checkpoint).parent_path().string()));
}

} // namespace

Result<std::string> verifyCheckpointAt(const std::string& path) {
    const Result<Manifest> verified = verifyCheckpoint(path);
    const bool isVerdict = verified || verified.error().code == ErrorCode::kCorrupt ||
                           verified.error().code == ErrorCode::kNotFound;
    if (!isVerdict)
        return tl::unexpected(verified.error());
    const bool isThere = verified || verified.error().code != ErrorCode::kNotFound;
    const json verdict = {{"whole", verified.has_value()},
                          {"there", isThere},
                          {"folder", folderNameOf(path)},
                          {"problem", verified ? "" : verified.error().message}};
    return verdict.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

namespace {

/// Positions a step, by trainer/train/checkpoint/FORMAT.md; 0: it does not tell.
int64_t positionsPerStepOf(const std::string& checkpoint) {
    const auto state = readFile(checkpoint + "/state.json").and_then([](const std::string& text) {
        return parseJson(text, "the state of a checkpoint");
    });
    return state ? intAt(*state, "positions_per_step").value_or(0) : 0;
}

} // namespace

Result<std::string> checkpointAt(const std::string& path) {
    const std::filesystem::path folder(path);
    const auto entries = listCheckpoints(folder.parent_path().string());
    if (!entries)
        return tl::unexpected(entries.error());
    const auto entry = std::ranges::find(*entries, path, &CheckpointEntry::path);
    if (entry == entries->end())
        return json{{"there", false}, {"folder", folderNameOf(path)}}.dump() + "\n";
    const json found = {{"there", true},
                        {"run_id", entry->manifest.runId},
                        {"attempt", entry->manifest.attempt},
                        {"step", entry->manifest.step},
                        {"bytes", entry->manifest.bytes()},
                        {"copy", entry->isCopy},
                        {"ranks", entry->manifest.worldSize},
                        {"positions_per_step", positionsPerStepOf(path)}};
    return found.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<std::string> savedRunsAt(const std::string& order) {
    RM_ASSIGN_OR_RETURN(const json request, parseJson(order, "what to look for"));
    const auto folder = textAt(request, "folder"), name = textAt(request, "name");
    if (!folder || !name)
        return fail(ErrorCode::kInvalid, "saved-runs: it needs a folder and a name");
    return savedRunsIn(*folder).map(
        [&](const std::vector<SavedRun>& runs) { return toJson(newestOf(runs, *name)) + "\n"; });
}

namespace {

Result<json> newestIn(const std::string& runDir, bool mustExist) {
    RM_ASSIGN_OR_RETURN(const std::string folder, checkpointFolder(runDir));
    std::error_code error;
    // One that is there and empty may be where a disk was mounted.
    if (mustExist && checkpointFolderAt(folder) != CheckpointFolder::kKnown)
        return fail(ErrorCode::kUnavailable,
                    "go on from a checkpoint: the folder " + folder + " is not there");
    RM_ASSIGN_OR_RETURN(const RunCheckpoints there, readCheckpoints(runDir));
    const CheckpointEntry* newest = there.newest();
    if (!newest)
        return json::object();
    // As rank 0 names it, which works in this folder as well.
    const auto path = std::filesystem::absolute(newest->path, error).lexically_normal();
    if (error)
        return failErrno("find " + newest->path, error.value());
    return json{{"path", path.string()},
                {"attempt", newest->manifest.attempt},
                {"step", newest->manifest.step},
                {"bytes", newest->manifest.bytes()}};
}

} // namespace

std::string newestCheckpointAt(const std::string& runDir, bool mustExist) {
    const Result<json> found = newestIn(runDir, mustExist);
    const json answer = found ? *found : json{{"problem", found.error().message}};
    return answer.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<std::string> bringBackCheckpoint(const Folders& folders, const std::string& runId,
                                        const std::string& name) {
    RM_ASSIGN_OR_RETURN(const std::string runDir, folders.existingPartDir(runId, 0));
    RM_ASSIGN_OR_RETURN(const std::string folder, checkpointFolder(runDir));
    RM_RETURN_IF_ERROR(bringBack(folder, name));
    return json{{"back", folder + "/" + name}}.dump(-1, ' ', false,
                                                    json::error_handler_t::replace) +
           "\n";
}

namespace {

Result<SafetensorsFile> weightsOf(const json& order, const char* key) {
    const auto folder = textAt(order, key);
    if (!folder)
        return fail(ErrorCode::kInvalid, std::string("compare-checkpoints: no folder ") + key);
    RM_RETURN_IF_ERROR(readManifest(*folder));
    return SafetensorsFile::open(*folder + "/model.safetensors");
}

} // namespace

Result<std::string> compareCheckpoints(const std::string& order) {
    RM_ASSIGN_OR_RETURN(const json request, parseJson(order, "the checkpoints to compare"));
    RM_ASSIGN_OR_RETURN(const auto a, weightsOf(request, "a"));
    RM_ASSIGN_OR_RETURN(const auto b, weightsOf(request, "b"));
    return toJson(compareTensors(a, b)) + "\n";
}

Result<std::string> pinCheckpoint(const std::string& path, bool pinned) {
    RM_RETURN_IF_ERROR(setPinned(path, pinned));
    return json{{"pinned", pinned}}.dump() + "\n";
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
    const bool isNeeded = &*entry == found->newest() || entry->path == found->line.startedFrom;
    if (!found->isRetired(*entry) && (isNeeded || !isBeforeSet(entry->manifest.reason)))
        return fail(ErrorCode::kInvalid,
                    attempt + ": the run goes on from it; only those that were set aside, or saved "
                              "before a change of settings, can be removed, and "
                              "checkpoint.keep_last says how many others stay");
    if (entry->isPinned)
        return fail(ErrorCode::kInvalid, attempt + ": it is pinned; unpin it first");
    if (const auto removed = setAside(entry->path); !removed)
        return failAs(attempt, removed.error());
    if (const Result<void> noted = noteRemoved(*runDir, *entry); !noted)
        return failAs(attempt, noted.error());
    return json{{"removed", entry->path}}.dump(-1, ' ', false, json::error_handler_t::replace) +
           "\n";
}

} // namespace rm
