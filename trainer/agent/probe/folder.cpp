// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/folder.h"

#include "shared/io/descriptor.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace rm {

namespace {

namespace fs = std::filesystem;

bool isMark(const std::string& mark) {
    return !mark.empty() && mark.size() <= 64 &&
           mark.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
}

std::string nearestFolder(const fs::path& path) {
    fs::path at = path.lexically_normal();
    std::error_code error;
    while (!fs::is_directory(at, error) && at != at.parent_path())
        at = at.parent_path();
    return at.string();
}

/// Writing is tried, as permissions do not say it all: a share may be mounted read-only.
std::string leave(const std::string& mark) {
    const auto file = openFile(mark, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!file)
        return file.error().message;
    const char byte = '.';
    const bool isWritten = ::write(file->get(), &byte, 1) == 1;
    const int error = errno;
    return isWritten ? std::string() : failErrno("write " + mark, error).value().message;
}

} // namespace

std::string whyNotWritable(const std::string& folder) {
    const std::string at = nearestFolder(folder);
    const int error = whyNotWritten(at, 4096);
    return error == 0 ? std::string() : failErrno("write in " + at, error).value().message;
}

FolderRoom roomAt(const std::string& folder) {
    struct statvfs room = {};
    if (::statvfs(nearestFolder(folder).c_str(), &room) != 0)
        return {};
    return {static_cast<int64_t>(room.f_bavail * room.f_frsize),
            static_cast<int64_t>(room.f_blocks * room.f_frsize)};
}

Result<std::string> folderReport(const Folders& own, const std::string& order) {
    RM_ASSIGN_OR_RETURN(const Json asked, parseJson(order, "stdin"));
    const auto named = textAt(asked, "path"), mark = textAt(asked, "mark"),
               what = textAt(asked, "do");
    const auto path = named == "home" ? own.home : named == "state" ? own.stateDir : named;
    if (!path || !path->starts_with('/') || !mark || !isMark(*mark) || !what)
        return fail(ErrorCode::kInvalid, "folder: stdin must hold a path, a mark and what to do");
    const std::string folder = nearestFolder(*path);
    const std::string file = folder + "/.ringmaster-" + *mark;
    std::string problem;
    if (*what == "leave")
        problem = leave(file);
    else if (*what == "take")
        ::unlink(file.c_str());
    else if (*what != "look")
        return fail(ErrorCode::kInvalid, "folder: '" + *what + "' is none of leave, look and take");
    struct stat info = {};
    const bool isThere = ::stat(folder.c_str(), &info) == 0;
    const Json report = {{"folder", folder},
                         {"free_bytes", roomAt(folder).freeBytes},
                         {"device", isThere ? static_cast<int64_t>(info.st_dev) : -1},
                         {"problem", problem},
                         {"mark", ::access(file.c_str(), F_OK) == 0}};
    return dumpJson(report) + "\n";
}

} // namespace rm
