// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/folders.h"

#include "shared/spec/node_plan.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace rm {

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::string userHome() {
    const std::string home = variable("HOME");
    if (!home.empty())
        return home;
    const passwd* entry = ::getpwuid(::getuid());
    return entry ? entry->pw_dir : "/";
}

// The XDG specification says that a relative value is to be ignored.
std::string xdgFolder(const char* name, const char* fallback) {
    const std::string value = variable(name);
    return value.starts_with('/') ? value : userHome() + fallback;
}

} // namespace

Folders Folders::fromEnvironment() {
    Folders folders;
    folders.home = variable("RINGMASTER_HOME");
    if (!folders.home.starts_with('/'))
        folders.home = xdgFolder("XDG_DATA_HOME", "/.local/share") + "/ringmaster";
    folders.stateDir = xdgFolder("XDG_STATE_HOME", "/.local/state") + "/ringmaster";
    return folders;
}

Result<std::string> Folders::runDir(const std::string& runId) const {
    if (!isValidRunId(runId))
        return fail(ErrorCode::kInvalid,
                    "run '" + runId + "': an id is 1 to 64 of a-z, 0-9 and '-'");
    return stateDir + "/runs/" + runId;
}

Result<std::string> Folders::existingRunDir(const std::string& runId) const {
    Result<std::string> dir = runDir(runId);
    std::error_code error;
    if (dir && !std::filesystem::is_directory(*dir, error))
        return fail(ErrorCode::kNotFound, "run " + runId + ": there is no " + *dir);
    return dir;
}

} // namespace rm
