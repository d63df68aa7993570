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

bool holdsPlan(const std::string& dir) {
    std::error_code error;
    return std::filesystem::exists(dir + "/plan.toml", error);
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

Result<std::string> Folders::partDir(const std::string& runId, int64_t nodeIndex) const {
    RM_ASSIGN_OR_RETURN(const std::string dir, runDir(runId));
    return holdsPlan(dir) ? dir : dir + "/" + nodeName(static_cast<int>(nodeIndex));
}

Result<std::string> Folders::existingPartDir(const std::string& runId, int64_t nodeIndex) const {
    Result<std::string> dir = partDir(runId, nodeIndex);
    if (dir && !holdsPlan(*dir))
        return fail(ErrorCode::kNotFound, "run " + runId + ": there is no " + *dir + "/plan.toml");
    return dir;
}

Result<std::vector<std::string>> Folders::partDirs(const std::string& runId) const {
    RM_ASSIGN_OR_RETURN(const std::string dir, runDir(runId));
    if (holdsPlan(dir))
        return std::vector{dir};
    std::vector<std::string> found;
    std::error_code error;
    std::filesystem::directory_iterator entries(dir, error), end;
    for (; !error && entries != end; entries.increment(error))
        if (holdsPlan(entries->path().string()))
            found.push_back(entries->path().string());
    if (found.empty())
        return fail(ErrorCode::kNotFound, "run " + runId + ": there is nothing of it in " + dir);
    std::ranges::sort(found);
    return found;
}

} // namespace rm
