// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/folders.h"

#include "shared/io/home.h"
#include "shared/journal/segment.h"
#include "shared/return_if_error.h"
#include "shared/spec/node_plan.h"

#include <algorithm>
#include <filesystem>

namespace rm {

namespace {

namespace fs = std::filesystem;

bool holdsPlan(const std::string& dir) {
    std::error_code error;
    return fs::exists(dir + "/plan.toml", error);
}

/// kDenied: it is, or lies in, another user's folder that does not let one look.
Result<void> checkLookable(const std::string& dir) {
    std::error_code error;
    (void)fs::exists(dir + "/plan.toml", error);
    if (error != std::errc::permission_denied)
        return {};
    return fail(ErrorCode::kDenied,
                "look into " + dir + ": " + error.message() +
                    "; it is another user's (ls -ld): log in as that user, or let an administrator "
                    "give it to this one");
}

bool isNameOfPart(const std::string& name) {
    constexpr std::string_view kBegin = "node-";
    return name.starts_with(kBegin) && name.size() > kBegin.size() &&
           name.find_first_not_of("0123456789", kBegin.size()) == name.npos;
}

/// Whether it has a run, by names alone: a cut-off removal or start leaves half of one.
bool holdsRun(const std::string& dir) {
    std::error_code error;
    fs::directory_iterator at(dir, error), end;
    bool isEmpty = !error;
    for (; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        std::error_code none;
        if (isNameOfPart(name) ? fs::is_directory(at->symlink_status(none))
                               : name == "plan.toml" || name == "job.json")
            return true;
        isEmpty = false;
    }
    return isEmpty && !error;
}

} // namespace

Folders Folders::fromEnvironment() {
    Folders folders;
    folders.home = ringmasterHome();
    folders.stateDir = xdgFolder("XDG_STATE_HOME", "/.local/state") + "/ringmaster";
    return folders;
}

Result<std::string> Folders::runDir(const std::string& runId) const {
    if (!isValidRunId(runId))
        return fail(ErrorCode::kInvalid,
                    "run '" + runId + "': an id is 1 to 64 of a-z, 0-9 and '-'");
    return stateDir + "/runs/" + runId;
}

bool Folders::isRun(const std::string& name) const {
    std::error_code error;
    const Result<std::string> dir = runDir(name);
    return dir && fs::is_directory(fs::symlink_status(*dir, error)) && holdsRun(*dir);
}

Result<std::string> Folders::partDir(const std::string& runId, int64_t nodeIndex) const {
    RM_ASSIGN_OR_RETURN(const std::string dir, runDir(runId));
    return holdsPlan(dir) ? dir : dir + "/" + nodeName(static_cast<int>(nodeIndex));
}

Result<std::string> Folders::existingPartDir(const std::string& runId, int64_t nodeIndex) const {
    Result<std::string> dir = partDir(runId, nodeIndex);
    if (dir && !holdsPlan(*dir))
        if (const auto lookable = checkLookable(*dir); !lookable)
            return failAs("run " + runId, lookable.error());
    if (dir && !holdsPlan(*dir))
        return fail(ErrorCode::kNotFound, "run " + runId + ": there is no " + *dir + "/plan.toml");
    return dir;
}

Result<std::vector<std::string>> Folders::partDirs(const std::string& runId) const {
    RM_ASSIGN_OR_RETURN(const std::string dir, runDir(runId));
    if (holdsPlan(dir))
        return std::vector{dir};
    std::vector<std::string> found;
    Result<void> lookable = checkLookable(dir);
    std::error_code error;
    fs::directory_iterator entries(dir, error), end;
    for (; !error && entries != end; entries.increment(error))
        if (holdsPlan(entries->path().string()))
            found.push_back(entries->path().string());
        else if (lookable)
            lookable = checkLookable(entries->path().string());
    if (found.empty() && !lookable)
        return failAs("run " + runId, lookable.error());
    if (found.empty())
        return fail(ErrorCode::kNotFound, "run " + runId + ": there is nothing of it in " + dir);
    std::ranges::sort(found);
    return found;
}

} // namespace rm
