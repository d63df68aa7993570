// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/paths.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace rm {

namespace {

namespace fs = std::filesystem;

struct Found {
    const char* kind;
    int error = 0;
};

Found failed(int error) {
    return {error == ENOENT || error == ENOTDIR ? "missing" : "denied", error};
}

Found lookAt(const std::string& path) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
        return failed(errno);
    const bool isFolder = S_ISDIR(info.st_mode);
    if (::access(path.c_str(), isFolder ? R_OK | X_OK : R_OK) != 0)
        return failed(errno);
    if (!isFolder)
        return {S_ISREG(info.st_mode) ? "file" : "other"};
    std::error_code error;
    return {fs::is_empty(path, error) && !error ? "empty" : "folder"};
}

} // namespace

Result<std::string> pathsReport(const std::string& list) {
    RM_ASSIGN_OR_RETURN(const Json paths, parseJson(list, "stdin"));
    if (!paths.is_array())
        return fail(ErrorCode::kInvalid, "paths: stdin must hold a list of paths");
    Json report = Json::array();
    for (const Json& path : paths) {
        if (!path.is_string())
            return fail(ErrorCode::kInvalid, "paths: a path must be a text");
        const Found found = lookAt(path.get<std::string>());
        report.push_back({{"path", path},
                          {"kind", found.kind},
                          {"error", found.error ? std::strerror(found.error) : ""}});
    }
    return dumpJson(report) + "\n";
}

} // namespace rm
