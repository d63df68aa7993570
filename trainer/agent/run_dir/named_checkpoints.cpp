// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/named_checkpoints.h"

#include "shared/checkpoint/owner.h"
#include "shared/return_if_error.h"
#include "trainer/agent/run_dir/run_checkpoints.h"
#include "trainer/agent/run_dir/run_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

namespace rm {

namespace {

namespace fs = std::filesystem;

/// A folder of this user, and no link to one.
bool isOwnFolder(const std::string& path) {
    struct stat info = {};
    return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

bool isCheckpointOf(const fs::path& path, const std::string& runId) {
    constexpr std::string_view kAside = "removed-";
    const auto manifest = readManifest(path.string());
    std::string name = path.filename().string();
    if (name.starts_with(kAside))
        name.erase(0, kAside.size());
    return manifest && manifest->runId == runId && isOwnFolder(path.string()) &&
           (name == checkpointName(manifest->step) ||
            name == checkpointName(manifest->step, manifest->attempt));
}

std::vector<std::string> checkpointsOf(const std::string& folder, const std::string& runId) {
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        if (isCheckpointOf(at->path(), runId))
            paths.push_back(at->path().string());
    std::ranges::sort(paths);
    return paths;
}

/// The newest attempt of a part.
int64_t newestAttempt(const std::string& part, const NodePlan& plan) {
    const auto state = loadAgentState(part);
    return state ? std::max<int64_t>(plan.attempt, state->attempt) : plan.attempt;
}

std::string whyStays(const std::string& folder, const std::string& part, const NodePlan& plan) {
    struct stat info = {};
    if (::lstat(folder.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
        return "the folder is a link";
    if (!isOwnFolder(folder))
        return "the folder is another user's";
    const auto owner = readOwner(folder);
    if (!owner)
        return owner.error().code == ErrorCode::kNotFound
                   ? "no OWNER.json there says that it is this run's"
                   : owner.error().message;
    if (owner->runId != plan.runId)
        return "the folder is of " +
               (owner->runId.empty() ? std::string("a run without an id") : "run " + owner->runId);
    // Its nodes share the folder, or another machine has it: what goes on there goes on from this.
    if (owner->line.attempt > newestAttempt(part, plan))
        return "attempt " + std::to_string(owner->line.attempt) + " of it began on other nodes";
    return plan.nodeIndex == 0 ? "" : "another node of the run writes it";
}

bool isBelow(const std::string& folder, const std::string& parent) {
    std::error_code error;
    const std::string inside = fs::weakly_canonical(folder, error).string();
    return inside.starts_with(fs::weakly_canonical(parent, error).string() + "/");
}

std::optional<NamedCheckpoints> namedByPart(const std::string& part, const std::string& runFolder) {
    auto folder = checkpointFolder(part);
    while (folder && folder->size() > 1 && folder->ends_with('/'))
        folder->pop_back(); // with it lstat() would follow a link
    const auto plan = loadPlan(part);
    struct stat info = {};
    if (!folder || !plan || isBelow(*folder, runFolder) || ::stat(folder->c_str(), &info) != 0 ||
        !S_ISDIR(info.st_mode))
        return std::nullopt;
    NamedCheckpoints named{plan->runId, *folder, checkpointsOf(*folder, plan->runId),
                           whyStays(*folder, part, *plan)};
    const bool isAny = !named.paths.empty() || named.whyStays.empty();
    return isAny ? std::optional(std::move(named)) : std::nullopt;
}

/// Renames it to `aside` first, by which the next sweep knows what a removal that was cut off has
/// left.
Result<void> removeOne(const std::string& path, const std::string& aside) {
    if (::rename(path.c_str(), aside.c_str()) != 0)
        return errno == ENOENT ? Result<void>() : failErrno("remove " + path, errno);
    std::error_code error;
    fs::remove_all(aside, error);
    return error ? failErrno("remove " + path, error.value()) : Result<void>();
}

bool isSameFolder(const std::string& a, const std::string& b) {
    std::error_code error;
    return fs::equivalent(a, b, error);
}

} // namespace

std::vector<NamedCheckpoints> namedCheckpoints(const Folders& folders, const std::string& runId) {
    std::vector<NamedCheckpoints> all;
    const auto parts = folders.partDirs(runId);
    for (const std::string& part : parts.value_or(std::vector<std::string>())) {
        auto named = namedByPart(part, *folders.runDir(runId));
        if (!named)
            continue;
        const auto same = std::ranges::find_if(all, [&named](const NamedCheckpoints& other) {
            return isSameFolder(other.folder, named->folder);
        });
        if (same == all.end())
            all.push_back(std::move(*named));
        else if (named->whyStays.empty()) // by the part that writes it
            *same = std::move(*named);
    }
    return all;
}

Result<void> removeNamedCheckpoints(const NamedCheckpoints& named) {
    if (!named.whyStays.empty())
        return {};
    sweepUnpublished(named.folder); // as an attempt of this run does, which claims the folder
    for (const std::string& path : checkpointsOf(named.folder, named.runId))
        if (const auto manifest = readManifest(path))
            RM_RETURN_IF_ERROR(removeOne(path, named.folder + "/" + stagingName(*manifest)));
    if (const auto owner = readOwner(named.folder); owner && owner->runId == named.runId)
        ::unlink((named.folder + "/" + kOwnerName).c_str());
    ::rmdir(named.folder.c_str()); // fails where anything else lies in it, which stays
    return {};
}

} // namespace rm
