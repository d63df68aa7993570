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
#include <chrono>
#include <filesystem>
#include <string_view>

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

constexpr const char* kMarkPrefix = ".ringmaster-";
constexpr auto kOldMark = std::chrono::hours(1);
constexpr size_t kMarkLength = 32; ///< as the app makes them
constexpr int kMostLookedAt = 10'000;

/// Removes marks that were left behind by a program that was killed.
void sweep(const std::string& folder) {
    const auto now = fs::file_time_type::clock::now();
    std::error_code error;
    int looked = 0;
    for (fs::directory_iterator at(folder, error), end;
         !error && at != end && looked < kMostLookedAt; at.increment(error), ++looked) {
        const std::string name = at->path().filename();
        std::error_code gone;
        const bool isOurs = name.starts_with(kMarkPrefix) &&
                            name.size() == std::string_view(kMarkPrefix).size() + kMarkLength &&
                            at->is_regular_file(gone) && at->file_size(gone) <= 1;
        if (isOurs && now - at->last_write_time(gone) > kOldMark && !gone)
            ::unlink(at->path().c_str());
    }
}

/// Writing is tried, as permissions do not say it all: a share may be mounted read-only.
std::string leave(const std::string& folder, const std::string& mark) {
    sweep(folder);
    const int fd = ::open(mark.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const Descriptor file(fd);
    const char byte = '.';
    if (fd >= 0 && ::write(fd, &byte, 1) == 1)
        return {};
    const Error why = failErrno("write in " + folder, errno).value();
    if (fd >= 0)
        ::unlink(mark.c_str());
    return why.message;
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
    RM_ASSIGN_OR_RETURN(const Json request, parseJson(order, "stdin"));
    const auto named = textAt(request, "path"), mark = textAt(request, "mark"),
               what = textAt(request, "do");
    const auto path = named == "home" ? own.home : named == "state" ? own.stateDir : named;
    if (!path || !path->starts_with('/') || !mark || !isMark(*mark) || !what)
        return fail(ErrorCode::kInvalid, "folder: stdin must hold a path, a mark and what to do");
    const std::string folder = nearestFolder(*path);
    const std::string file = folder + "/" + kMarkPrefix + *mark;
    std::string problem;
    if (*what == "leave")
        problem = leave(folder, file);
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
