// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/saved_runs.h"

#include "shared/checkpoint/owner.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace rm {

namespace {

std::optional<SavedRun> savedRunOf(const std::string& folder) {
    const auto owner = readOwner(folder);
    const auto entries = owner
                             ? listCheckpoints(folder)
                             : Result<std::vector<CheckpointEntry>>(tl::unexpected(owner.error()));
    if (!entries)
        return std::nullopt;
    const CheckpointEntry* newest = nullptr; // by step, ascending
    for (const CheckpointEntry& entry : *entries)
        if (owner->line.has(entry.manifest))
            newest = &entry;
    if (!newest)
        return std::nullopt;
    return SavedRun{owner->runId, owner->runName, newest->path, newest->manifest.step,
                    newest->manifest.createdNs};
}

} // namespace

Result<std::vector<SavedRun>> savedRunsIn(const std::string& folder) {
    namespace fs = std::filesystem;
    std::error_code error;
    std::vector<SavedRun> runs;
    const auto add = [&](const std::string& each) {
        if (auto run = savedRunOf(each))
            runs.push_back(std::move(*run));
    };
    fs::directory_iterator at(folder, error);
    if (error == std::errc::no_such_file_or_directory)
        return runs;
    add(folder);
    for (; !error && at != fs::directory_iterator(); at.increment(error))
        add(at->path().string());
    if (error)
        return failErrno("look for checkpoints in " + folder, error.value());
    std::ranges::stable_sort(runs, std::greater(), &SavedRun::createdNs);
    return runs;
}

std::vector<SavedRun> newestOf(const std::vector<SavedRun>& runs, const std::string& name) {
    std::vector<SavedRun> newest(runs.begin(), runs.begin() + (runs.empty() ? 0 : 1));
    const auto called = std::ranges::find(runs, name, &SavedRun::runName);
    if (called != runs.begin() && called != runs.end())
        newest.push_back(*called);
    return newest;
}

std::string toJson(const std::vector<SavedRun>& runs) {
    Json list = Json::array();
    for (const SavedRun& run : runs)
        list.push_back({{"run_id", run.runId},
                        {"run_name", run.runName},
                        {"checkpoint", run.checkpoint},
                        {"step", run.step},
                        {"created_ns", run.createdNs}});
    return dumpJson({{"runs", std::move(list)}});
}

Result<std::vector<SavedRun>> parseSavedRuns(const std::string& text, const std::string& source) {
    RM_ASSIGN_OR_RETURN(const auto json, parseJson(text, source));
    const Json* list = arrayAt(json, "runs");
    if (!list)
        return fail(ErrorCode::kCorrupt, "read " + source + ": it has no list of runs");
    std::vector<SavedRun> runs;
    for (const Json& each : *list) {
        const auto runId = textAt(each, "run_id"), runName = textAt(each, "run_name");
        const auto checkpoint = textAt(each, "checkpoint");
        const auto step = intAt(each, "step"), createdNs = intAt(each, "created_ns");
        if (!runId || !runName || !checkpoint || !step || *step < 0 || !createdNs)
            return fail(ErrorCode::kCorrupt, "read " + source + ": a run makes no sense");
        runs.push_back({*runId, *runName, *checkpoint, *step, *createdNs});
    }
    return runs;
}

} // namespace rm
