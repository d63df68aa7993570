// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/saved_runs.h"

#include "shared/checkpoint/owner.h"
#include "shared/io/json_fields.h"
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

template <Either<SavedRun> T, class Visit>
void fields(T& run, Visit&& visit) {
    visit("run_id", run.runId);
    visit("run_name", run.runName);
    visit("checkpoint", run.checkpoint);
    visit("step", run.step, atLeast(0));
    visit("created_ns", run.createdNs);
}

namespace {

struct SavedRuns {
    std::vector<SavedRun> runs;
};

template <Either<SavedRuns> T, class Visit>
void fields(T& saved, Visit&& visit) {
    visit("runs", saved.runs);
}

} // namespace

std::string toJson(const std::vector<SavedRun>& runs) {
    return dumpJson(writeFields(SavedRuns{runs}));
}

Result<std::vector<SavedRun>> parseSavedRuns(const std::string& text, const std::string& source) {
    return parseFields<SavedRuns>(text, source).map([](SavedRuns saved) {
        return std::move(saved.runs);
    });
}

} // namespace rm
