// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/receive/tree_store.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/agent/receive/bundle_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace rm {

namespace {

namespace fs = std::filesystem;
constexpr size_t kMaxPath = 1024;
constexpr const char* kBundles = "bundles";

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
    if (tree.kind != kBundles && tree.kind != "data")
        return fail(ErrorCode::kInvalid, what + "its kind must be bundles or data");
    std::set<std::string> paths;
    for (const TreeEntry& entry : tree.entries) {
        if (!isPlainPath(entry.path) || entry.path.starts_with(kNotePrefix))
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
    struct stat info = {};
    if (::stat(from.c_str(), &info) != 0 && errno == ENOENT)
        return fail(ErrorCode::kNotFound, "place " + entry.path + ": its blob is missing");
    // Hard links share the mode of the blob; an x bit does no harm in a tree that does not need it.
    const mode_t mode = entry.executable || (info.st_mode & S_IXUSR) ? 0500 : 0400;
    if ((info.st_mode & 07777) != mode && ::chmod(from.c_str(), mode) != 0)
        return failErrno("make " + from + " read-only", errno);
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
    if (tree.kind == kBundles) {
        RM_RETURN_IF_ERROR(noteContents(staging, tree.entries));
        noteLabel(staging, tree.label);
    }
    return syncFolder(staging);
}

/// Removes blobs that are not what their names say, so that they are asked for again.
void dropDamaged(const BlobStore& blobs, const std::vector<ChangedFile>& changed) {
    for (const ChangedFile& file : changed) {
        const std::string path = blobs.pathOf(file.expected);
        const auto found = file.expected.empty() ? tl::unexpected(Error()) : sha256HexOfFile(path);
        if (found && *found != file.expected)
            ::unlink(path.c_str());
    }
}

/// Why a tree that is there cannot stay; empty: it can.
Result<std::string> damageOf(const std::string& folder, const BlobStore& blobs, const Tree& tree) {
    if (tree.kind != kBundles)
        return isIntact(folder, blobs, tree) ? "" : folder + " is not as it was sent";
    RM_RETURN_IF_ERROR(noteContents(folder, tree.entries)); // older agents did not
    RM_ASSIGN_OR_RETURN(const auto changed, changedFiles(folder, tree.id));
    dropDamaged(blobs, changed);
    if (!changed.empty())
        return wordsFor(changed, folder);
    return isIntact(folder, blobs, tree) ? "" : "a program in " + folder + " is not executable";
}

/// A blob that came long ago may have been damaged since.
Result<void> refuseDamaged(const std::string& staging, const BlobStore& blobs, const Tree& tree) {
    RM_ASSIGN_OR_RETURN(const auto changed, changedFiles(staging, tree.id));
    if (changed.empty())
        return {};
    dropDamaged(blobs, changed);
    return fail(ErrorCode::kCorrupt, wordsFor(changed, tree.id));
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
    std::string damage;
    if (fs::is_directory(folder, error)) {
        RM_ASSIGN_OR_RETURN(damage, damageOf(folder, blobs, tree));
        if (damage.empty()) {
            if (tree.kind == kBundles)
                noteLabel(folder, tree.label);
            // Its time is that of its last use, which pruneDeployed() goes by.
            ::utimensat(AT_FDCWD, folder.c_str(), nullptr, 0);
            return folder;
        }
        fs::remove_all(folder, error);
    }
    RM_RETURN_IF_ERROR(makeFolders(parent));
    std::string staging = parent + "/.staging-XXXXXX"; // others may share this home
    if (!::mkdtemp(staging.data()))
        return failErrno("make " + staging, errno);
    Result<void> filled = fill(staging, blobs, tree);
    if (filled && tree.kind == kBundles)
        filled = refuseDamaged(staging, blobs, tree);
    if (!filled) {
        fs::remove_all(staging, error);
        const bool isDamage = filled.error().code == ErrorCode::kNotFound && !damage.empty();
        return isDamage ? fail(ErrorCode::kCorrupt, damage) : tl::unexpected(filled.error());
    }
    RM_RETURN_IF_ERROR(publish(staging, folder));
    return folder;
}

} // namespace rm
