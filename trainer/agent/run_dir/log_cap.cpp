// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/log_cap.h"

#include "shared/return_if_error.h"
#include "trainer/agent/posix/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace rm {

namespace {

constexpr std::string_view kMark = "[ringmaster] what this log had before was removed here";

} // namespace

Result<bool> capLog(const std::string& path, uint64_t most) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0 || static_cast<uint64_t>(info.st_size) <= most)
        return false;
    RM_ASSIGN_OR_RETURN(const Descriptor file, openFile(path, O_RDWR | O_APPEND | O_NOFOLLOW));
    if (::ftruncate(file.get(), 0) != 0)
        return failErrno("empty " + path, errno);
    const std::string line =
        std::string(kMark) + ": it had " + std::to_string(info.st_size) + " bytes\n";
    RM_RETURN_IF_ERROR(writeText(file.get(), line, path));
    return true;
}

bool isCappedLog(int fd) {
    char begin[kMark.size()];
    return ::pread(fd, begin, sizeof begin, 0) == static_cast<ssize_t>(sizeof begin) &&
           std::string_view(begin, sizeof begin) == kMark;
}

} // namespace rm
