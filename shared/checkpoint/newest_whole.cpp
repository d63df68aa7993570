// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/owner.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace rm {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStepPrefix = "step-";

// The step by the folder's name; -1: it is not named like a checkpoint.
int64_t stepIn(const std::string& dir) {
    const std::string name = fs::path(dir).filename().string();
    int64_t step = -1;
    if (name.starts_with(kStepPrefix))
        std::from_chars(name.data() + kStepPrefix.size(), name.data() + name.size(), step);
    return step;
}

bool isDamage(const Error& error) {
    return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kNotFound ||
           error.code == ErrorCode::kInternal; // an unreadable sector
}

// The damage without the path, which its reporter knows.
DamagedCheckpoint damageOf(const std::string& dir, const Error& error) {
    const std::string prefix = "read " + dir + "/";
    const bool isInside = error.message.starts_with(prefix);
    return {stepIn(dir), dir, isInside ? error.message.substr(prefix.size()) : error.message};
}

/// The folders in a folder that are named like checkpoints.
struct Found {
    std::vector<CheckpointEntry> entries;      ///< their manifests can be read
    std::vector<DamagedCheckpoint> unreadable; ///< their manifests are damaged
};

Result<Found> lookIn(const std::string& parent) {
    std::error_code error;
    Found found;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
        const std::string path = it->path().string();
        if (!it->path().filename().string().starts_with(kStepPrefix))
            continue;
        if (auto manifest = readManifest(path))
            found.entries.push_back({path, std::move(*manifest)});
        else if (manifest.error().code == ErrorCode::kCorrupt)
            found.unreadable.push_back(damageOf(path, manifest.error()));
    }
    if (error)
        return failErrno("list checkpoints in " + parent, error.value());
    return found;
}

auto attemptAndStep(const CheckpointEntry& entry) {
    return std::pair(entry.manifest.attempt, entry.manifest.step);
}

// The line of an attempt from `dir`, else the owner's, else from the newest before its step.
CheckpointLine lineThrough(const std::string& dir, const std::string& parent,
                           std::vector<CheckpointEntry> entries) {
    const auto line = lineOf(entries, INT64_MAX, dir);
    if (!line.startedFrom.empty())
        return line;
    if (auto owner = readOwner(parent))
        return owner->line;
    const int64_t step = stepIn(dir);
    std::erase_if(entries,
                  [&](const CheckpointEntry& entry) { return entry.manifest.step >= step; });
    const auto newest = std::ranges::max_element(entries, {}, attemptAndStep);
    return lineOf(entries, INT64_MAX, newest == entries.end() ? std::string() : newest->path);
}

// The checkpoints before `dir` on its line, the newest first.
std::vector<CheckpointEntry> entriesBefore(const std::string& dir, const std::string& parent,
                                           std::vector<CheckpointEntry> entries) {
    const CheckpointLine line = lineThrough(dir, parent, entries);
    const auto manifest = readManifest(dir);
    const int64_t step = manifest ? manifest->step : stepIn(dir);
    std::erase_if(entries, [&](const CheckpointEntry& entry) {
        return entry.manifest.step >= step || !line.has(entry.manifest);
    });
    std::ranges::sort(entries, std::greater(), [](const CheckpointEntry& entry) {
        return std::pair(entry.manifest.step, entry.manifest.attempt);
    });
    return entries;
}

tl::unexpected<Error> noneIsWhole(const std::string& dir,
                                  const std::vector<DamagedCheckpoint>& damaged) {
    std::string text = "go on from " + dir + ": no checkpoint is whole";
    for (const DamagedCheckpoint& each : damaged)
        text += "; " + fs::path(each.path).filename().string() + ": " + each.problem;
    return fail(ErrorCode::kCorrupt, text);
}

} // namespace

Result<WholeCheckpoint> newestWhole(const std::string& requested) {
    std::string dir = requested;
    while (dir.size() > 1 && dir.ends_with('/'))
        dir.pop_back();
    const std::string parent = fs::path(dir).parent_path().string();
    WholeCheckpoint whole;
    const auto take = [&whole](const std::string& path) -> Result<bool> {
        auto verified = verifyCheckpoint(path);
        if (!verified && !isDamage(verified.error()))
            return tl::unexpected(verified.error());
        if (verified)
            whole = {path, std::move(*verified), std::move(whole.passedOver)};
        else
            whole.passedOver.push_back(damageOf(path, verified.error()));
        return verified.has_value();
    };
    RM_ASSIGN_OR_RETURN(bool isTaken, take(dir));
    if (isTaken)
        return whole;
    auto found = lookIn(parent).value_or(Found());
    for (const CheckpointEntry& entry : entriesBefore(dir, parent, std::move(found.entries))) {
        RM_ASSIGN_OR_RETURN(isTaken, take(entry.path));
        if (isTaken)
            break;
    }
    for (DamagedCheckpoint& each : found.unreadable)
        if (each.path != dir && each.step < stepIn(dir) && each.step > whole.manifest.step)
            whole.passedOver.push_back(std::move(each));
    std::ranges::stable_sort(whole.passedOver, std::greater(), &DamagedCheckpoint::step);
    return isTaken ? Result<WholeCheckpoint>(std::move(whole)) : noneIsWhole(dir, whole.passedOver);
}

} // namespace rm
