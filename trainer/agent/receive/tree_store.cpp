// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/receive/tree_store.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

namespace rm {

namespace {

namespace fs = std::filesystem;
constexpr size_t kMaxPath = 1024;

bool isPlainPath(const std::string& path) {
    if (path.empty() || path.size() > kMaxPath || path.front() == '/' || path.back() == '/')
        return false;
    const auto isControl = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (std::any_of(path.begin(), path.end(), isControl))
        return false;
    for (size_t begin = 0; begin <= path.size();) {
        const size_t end = std::min(path.find('/', begin), path.size());
        const std::string part = path.substr(begin, end - begin);
        if (part.empty() || part == "." || part == "..")
            return false;
        begin = end + 1;
    }
    return true;
}

Result<void> checkTree(const Tree& tree) {
    const std::string what = "make the tree " + tree.kind + "/" + tree.id + ": ";
    if (tree.kind != "bundles" && tree.kind != "data")
        return fail(ErrorCode::kInvalid, what + "its kind must be bundles or data");
    std::set<std::string> paths;
    for (const TreeEntry& entry : tree.entries) {
        if (!isPlainPath(entry.path))
            return fail(ErrorCode::kInvalid, what + "'" + entry.path + "' is no path inside it");
        if (!paths.insert(entry.path).second)
            return fail(ErrorCode::kInvalid, what + "'" + entry.path + "' is named twice");
    }
    if (tree.id != treeId(tree.entries))
        return fail(ErrorCode::kInvalid, what + "the id is not that of its entries");
    return {};
}

bool isIntact(const std::string& folder, const BlobStore& blobs, const Tree& tree) {
    return std::all_of(tree.entries.begin(), tree.entries.end(), [&](const TreeEntry& entry) {
        struct stat file = {}, blob = {};
        return ::lstat((folder + "/" + entry.path).c_str(), &file) == 0 && S_ISREG(file.st_mode) &&
               (::stat(blobs.pathOf(entry.sha256).c_str(), &blob) != 0 ||
                file.st_size == blob.st_size) &&
               (!entry.executable || (file.st_mode & S_IXUSR));
    });
}

Result<void> placeFile(const BlobStore& blobs, const TreeEntry& entry, const std::string& to) {
    const std::string from = blobs.pathOf(entry.sha256);
    // Hard links share the mode of the blob; an x bit does no harm in a tree that does not need it.
    if (entry.executable && ::chmod(from.c_str(), 0700) != 0)
        return failErrno("make " + from + " executable", errno);
    if (::link(from.c_str(), to.c_str()) == 0)
        return {};
    if (errno == ENOENT)
        return fail(ErrorCode::kNotFound, "place " + entry.path + ": its blob is missing");
    std::error_code error;
    fs::copy_file(from, to, error);
    if (error)
        return failErrno("copy " + from + " to " + to, error.value());
    return syncFile(to);
}

Result<void> fill(const std::string& staging, const BlobStore& blobs, const Tree& tree) {
    for (const TreeEntry& entry : tree.entries) {
        const std::string to = staging + "/" + entry.path;
        if (const Result<void> made = makeFolders(fs::path(to).parent_path()); !made)
            return made;
        if (const Result<void> placed = placeFile(blobs, entry, to); !placed)
            return placed;
    }
    return syncFolder(staging);
}

Result<void> publish(const std::string& staging, const std::string& folder) {
    std::error_code error;
    if (::rename(staging.c_str(), folder.c_str()) == 0)
        return syncFolder(fs::path(folder).parent_path());
    const int cause = errno;
    fs::remove_all(staging, error);
    // Another receiver was first: the same id means the same content.
    if (cause == EEXIST || cause == ENOTEMPTY)
        return {};
    return failErrno("publish " + folder, cause);
}

} // namespace

Result<std::string> publishTree(const std::string& home, const BlobStore& blobs, const Tree& tree) {
    RM_RETURN_IF_ERROR(checkTree(tree));
    const std::string parent = home + "/" + tree.kind;
    const std::string folder = parent + "/" + tree.id;
    std::error_code error;
    if (fs::is_directory(folder, error)) {
        if (isIntact(folder, blobs, tree))
            return folder;
        fs::remove_all(folder, error);
    }
    const std::string staging = parent + "/.staging-" + std::to_string(::getpid());
    fs::remove_all(staging, error);
    RM_RETURN_IF_ERROR(makeFolders(staging));
    if (const Result<void> filled = fill(staging, blobs, tree); !filled) {
        fs::remove_all(staging, error);
        return tl::unexpected(filled.error());
    }
    RM_RETURN_IF_ERROR(publish(staging, folder));
    return folder;
}

} // namespace rm
