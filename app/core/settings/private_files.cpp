// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/private_files.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <QtGlobal>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace rm {

namespace {

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

/// A file system without modes, or one that is read-only, is no reason not to start.
void protect(const std::string& path, const struct stat& info) {
    const bool isOpen = info.st_uid == ::geteuid() && (info.st_mode & kOthers) != 0;
    if (isOpen && ::chmod(path.c_str(), info.st_mode & 07777 & ~kOthers) != 0 && errno != EROFS)
        qWarning("protect %s: %s", path.c_str(), std::strerror(errno));
}

} // namespace

Result<void> makePrivateFolder(const std::string& folder) {
    RM_RETURN_IF_ERROR(makeFolders(folder));
    struct stat info {};
    if (::stat(folder.c_str(), &info) == 0)
        protect(folder, info);
    return {};
}

void protectFile(const std::string& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode))
        protect(file, info);
}

bool isOnReadOnlyDisk(const std::string& path) {
    std::filesystem::path there = path;
    std::error_code none;
    while (!std::filesystem::exists(there, none) && there.has_parent_path() &&
           there != there.parent_path())
        there = there.parent_path();
    return ::access(there.c_str(), W_OK) != 0 && errno == EROFS;
}

bool isOnFullDisk(const std::string& path) {
    struct statvfs disk {};
    const bool isRoot = ::geteuid() == 0; // which may use what is kept back for it
    return ::statvfs(path.c_str(), &disk) == 0 && disk.f_blocks > 0 &&
           (isRoot ? disk.f_bfree : disk.f_bavail) == 0;
}

} // namespace rm
