// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/posix/walk.h"

#include "shared/return_if_error.h"

#include <cerrno>
#include <filesystem>

namespace rm {

namespace {

/// NFS says ESTALE about a file that another machine removed.
bool isGone(int error) {
    return error == ENOENT || error == ESTALE;
}

} // namespace

Result<void> walk(const std::string& folder, const Visit& visit) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
        const std::string path = at->path();
        struct stat info = {};
        const bool isThere = ::lstat(path.c_str(), &info) == 0;
        if (!isThere && isGone(errno))
            continue;
        if (!isThere)
            return failErrno("read " + path, errno);
        RM_ASSIGN_OR_RETURN(const bool goesIn, visit(path, info));
        if (goesIn && S_ISDIR(info.st_mode))
            RM_RETURN_IF_ERROR(walk(path, visit));
    }
    return error && !isGone(error.value()) ? failErrno("read " + folder, error.value())
                                           : Result<void>();
}

} // namespace rm
