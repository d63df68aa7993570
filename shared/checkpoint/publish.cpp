// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/file_name.h"
#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/owner.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>

namespace rm {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kUnpublished = "tmp-";
constexpr std::string_view kReplaced = "old-";
constexpr std::string_view kAside = "removed-";
constexpr int64_t kDayS = 24 * 3600;

std::string uniqueSuffix() {
    static std::atomic<int> counter{0};
    return "-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

void removeAll(const std::string& path) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

Result<Manifest::File> sealFile(const fs::path& path, const FileHashes& hashes) {
    const std::string name = path.filename().string();
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0)
        return failErrno("read " + path.string(), errno);
    if (!S_ISREG(info.st_mode) || !isCheckpointFileName(name))
        return fail(ErrorCode::kInvalid,
                    "save " + path.string() + ": a checkpoint holds plain files only");
    if (const auto known = hashes.find(name); known != hashes.end())
        return Manifest::File{name, info.st_size, known->second};
    RM_ASSIGN_OR_RETURN(auto sha256, sha256HexOfFile(path.string()));
    return Manifest::File{name, info.st_size, std::move(sha256)};
}

Result<std::vector<Manifest::File>> sealFiles(const std::string& dir, const FileHashes& hashes) {
    std::error_code error;
    std::vector<Manifest::File> files;
    for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
        RM_ASSIGN_OR_RETURN(auto file, sealFile(it->path(), hashes));
        files.push_back(std::move(file));
    }
    if (error)
        return failErrno("list " + dir, error.value());
    std::ranges::sort(files, {}, &Manifest::File::name);
    // Last: the disk writes what it was handed while the files are hashed.
    for (const Manifest::File& file : files)
        RM_RETURN_IF_ERROR(syncFile(dir + "/" + file.name));
    return files;
}

Result<void> writeAllBut(const std::string& dir, Manifest& manifest,
                         const std::function<Result<void>(const std::string&)>& fill,
                         const FileHashes& hashes) {
    if (auto filled = fill(dir); !filled)
        return filled;
    RM_ASSIGN_OR_RETURN(auto files, sealFiles(dir, hashes));
    manifest.files = std::move(files);
    return writeFileAtomically(dir + "/" + kManifestName, toJson(manifest));
}

// Atomic on Linux's own file systems.
bool exchange(const std::string& a, const std::string& b) {
#ifdef RENAME_EXCHANGE
    return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
#else
    (void)a, (void)b;
    return false;
#endif
}

Result<void> moveFolder(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0)
        return failErrno("rename " + from + " to " + to, errno);
    return {};
}

// For file systems that cannot exchange folders (NFS). sweepUnpublished() repairs a crash between
// the two renames.
Result<std::string> replaceInTwoSteps(const std::string& temporary, const std::string& final) {
    const fs::path target(final);
    const std::string old = target.parent_path() /
                            (std::string(kReplaced) + target.filename().string() + uniqueSuffix());
    RM_RETURN_IF_ERROR(moveFolder(final, old));
    if (auto moved = moveFolder(temporary, final); !moved) {
        (void)moveFolder(old, final);
        return tl::unexpected(moved.error());
    }
    return old;
}

// Returns the folder that was there before, to be removed once the new one is durable; empty: none.
Result<std::string> moveIntoPlace(const std::string& temporary, const std::string& final) {
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(final, ignored)))
        return exchange(temporary, final) ? temporary : replaceInTwoSteps(temporary, final);
    RM_RETURN_IF_ERROR(moveFolder(temporary, final));
    return std::string();
}

// Undoes moveIntoPlace().
void takeBack(const std::string& temporary, const std::string& final, const std::string& replaced) {
    if (replaced == temporary)
        exchange(temporary, final);
    else if (moveFolder(final, temporary) && !replaced.empty())
        (void)moveFolder(replaced, final);
}

// A folder whose name may be gone after a power cut is no checkpoint: where that cannot be ruled
// out, what was there before stays.
Result<void> putInPlace(const std::string& parent, const std::string& temporary,
                        const std::string& final) {
    RM_ASSIGN_OR_RETURN(const auto replaced, moveIntoPlace(temporary, final));
    if (auto synced = syncFolder(parent); !synced) {
        takeBack(temporary, final, replaced);
        return synced;
    }
    if (!replaced.empty())
        removeAll(replaced);
    return {};
}

// Cuts "-123" off, or says that `text` does not end like that.
bool cutNumber(std::string& text) {
    const size_t digits = text.find_last_not_of("0123456789") + 1;
    if (digits == 0 || digits == text.size() || text[digits - 1] != '-')
        return false;
    text.resize(digits - 1);
    return true;
}

bool isCheckpointName(std::string name) {
    constexpr std::string_view kAttempt = "-attempt";
    std::string longer = name;
    if (cutNumber(longer) && longer.ends_with(kAttempt))
        name = longer.substr(0, longer.size() - kAttempt.size());
    return cutNumber(name) && name == "step";
}

// "tmp-step-000001000-PID-N" -> "step-000001000". Empty: it is not named as publishing names
// folders, so somebody else made it.
std::string checkpointNamedIn(const std::string& name, std::string_view prefix) {
    std::string rest = name.starts_with(prefix) ? name.substr(prefix.size()) : std::string();
    return cutNumber(rest) && cutNumber(rest) && isCheckpointName(rest) ? rest : std::string();
}

// A checkpoint of another attempt or of a later release is never replaced. Nor does one of a later
// attempt have a name that one of the first has: that may lie on another node, in a folder of the
// same path, and a path is what a checkpoint is known by.
std::string finalName(const std::string& parent, const Manifest& manifest) {
    const std::string name = checkpointName(manifest.step);
    const auto there = readManifest(parent + "/" + name);
    const bool isFree = there ? there->attempt == manifest.attempt
                              : manifest.attempt <= 1 && there.error().code != ErrorCode::kTooNew;
    return isFree ? name : checkpointName(manifest.step, manifest.attempt);
}

Result<void> refuseForeign(const std::string& there, const std::string& runId) {
    const auto manifest = readManifest(there);
    if (!manifest || manifest->runId == runId)
        return {};
    return fail(ErrorCode::kInvalid,
                there + " is a checkpoint of " + manifest->runId + "; choose another folder");
}

Result<void> syncStaged(const std::string& staged, const Manifest& manifest) {
    for (const Manifest::File& file : manifest.files)
        RM_RETURN_IF_ERROR(syncFile(staged + "/" + file.name));
    RM_RETURN_IF_ERROR(syncFile(staged + "/" + kManifestName));
    return syncFolder(staged);
}

// A checkpoint that replaces another is kept for at least as long as the other would have been.
std::string reasonInPlaceOf(const std::string& replaced, const Manifest& manifest) {
    const auto there = readManifest(replaced);
    if (!there || wasRequested(manifest))
        return manifest.reason;
    return wasRequested(*there) || manifest.reason == "best" ? there->reason : manifest.reason;
}

void sweepEntry(const fs::path& path) {
    const std::string name = path.filename().string();
    if (!checkpointNamedIn(name, kUnpublished).empty())
        return removeAll(path.string());
    const std::string replaced = checkpointNamedIn(name, kReplaced);
    if (replaced.empty())
        return;
    const std::string final = (path.parent_path() / replaced).string();
    if (readManifest(final) || !moveFolder(path.string(), final))
        removeAll(path.string());
}

} // namespace

Result<std::string> publishCheckpoint(const std::string& parent, Manifest manifest,
                                      const std::function<Result<void>(const std::string&)>& fill,
                                      const FileHashes& hashes) {
    const std::string name = finalName(parent, manifest);
    const std::string attempt = "save checkpoint " + name + " in " + parent;
    const std::string temporary = parent + "/" + std::string(kUnpublished) + name + uniqueSuffix();
    const std::string final = parent + "/" + name;
    manifest.reason = reasonInPlaceOf(final, manifest);
    if (auto made = makeFolders(parent); !made)
        return failAs(attempt, made.error());
    RM_RETURN_IF_ERROR(checkOwner(parent, manifest));
    if (::mkdir(temporary.c_str(), 0777) != 0)
        return failErrno(attempt, errno);
    std::error_code unread;
    const bool wasPinned = fs::exists(final + "/" + kPinMark, unread);
    auto written = writeAllBut(temporary, manifest, fill, hashes).and_then([&] {
        return wasPinned ? setPinned(temporary, true) : Result<void>();
    });
    written = written.and_then([&] { return checkOwner(parent, manifest); });
    written = written.and_then([&] { return putInPlace(parent, temporary, final); });
    if (!written) {
        removeAll(temporary);
        return failAs(attempt, written.error());
    }
    return final;
}

std::string stagingName(const Manifest& manifest) {
    return std::string(kUnpublished) + checkpointName(manifest.step) + uniqueSuffix();
}

Result<std::string> adoptCheckpoint(const std::string& parent, const std::string& staged) {
    const auto publish = [&]() -> Result<std::string> {
        RM_ASSIGN_OR_RETURN(const auto manifest, verifyCheckpoint(staged));
        RM_RETURN_IF_ERROR(syncStaged(staged, manifest));
        const std::string final = parent + "/" + finalName(parent, manifest);
        RM_RETURN_IF_ERROR(refuseForeign(final, manifest.runId));
        std::error_code unread;
        if (fs::exists(final + "/" + kPinMark, unread))
            RM_RETURN_IF_ERROR(setPinned(staged, true));
        RM_RETURN_IF_ERROR(putInPlace(parent, staged, final));
        return final;
    };
    auto published = publish();
    if (published)
        return published;
    removeAll(staged);
    return failAs("take a checkpoint into " + parent, published.error());
}

Result<void> removeCheckpoint(const std::string& dir) {
    const std::string manifest = dir + "/" + kManifestName;
    if (::unlink(manifest.c_str()) != 0 && errno != ENOENT)
        return failErrno("remove " + manifest, errno);
    if (auto synced = syncFolder(dir); !synced)
        return failAs("remove checkpoint " + dir, synced.error());
    std::error_code error;
    fs::remove_all(dir, error);
    if (error)
        return failErrno("remove checkpoint " + dir, error.value());
    return {};
}

Result<void> removeCheckpoint(const std::string& dir, const Manifest& by) {
    if (const auto own = checkOwner(fs::path(dir).parent_path().string(), by); !own)
        return failAs("remove checkpoint " + dir, own.error());
    return removeCheckpoint(dir);
}

namespace {

std::string asideOf(const fs::path& dir) {
    return dir.parent_path() / (std::string(kAside) + dir.filename().string());
}

/// Removes what has lain aside for too long: a folder's last change is when it was moved there.
void dropOldAside(const fs::path& parent) {
    std::error_code error;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
        struct stat info {};
        const std::string name = it->path().filename().string();
        if (!name.starts_with(kAside) || !isCheckpointName(name.substr(kAside.size())) ||
            ::lstat(it->path().c_str(), &info) != 0)
            continue;
        if (::time(nullptr) - info.st_mtime > kAsideDays * kDayS)
            removeAll(it->path().string());
    }
}

} // namespace

Result<std::string> setAside(const std::string& dir) {
    const std::string aside = asideOf(dir);
    removeAll(aside); // an earlier one of that name
    RM_RETURN_IF_ERROR(moveFolder(dir, aside));
    ::utimensat(AT_FDCWD, aside.c_str(), nullptr, 0);
    const std::string parent = fs::path(dir).parent_path().string();
    dropOldAside(parent);
    RM_RETURN_IF_ERROR(syncFolder(parent));
    return aside;
}

Result<void> bringBack(const std::string& parent, const std::string& name) {
    const std::string dir = parent + "/" + name, attempt = "bring back checkpoint " + dir;
    const std::string aside = asideOf(dir);
    std::error_code error;
    if (!isCheckpointName(name) || !fs::exists(aside, error))
        return fail(ErrorCode::kNotFound, attempt + ": it is not kept aside");
    if (fs::exists(fs::symlink_status(dir, error)))
        return fail(ErrorCode::kInvalid, attempt + ": another one has taken its place");
    RM_RETURN_IF_ERROR(moveFolder(aside, dir));
    return syncFolder(parent);
}

void sweepUnpublished(const std::string& parent) {
    std::error_code error;
    std::vector<fs::path> entries;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error))
        entries.push_back(it->path());
    for (const fs::path& path : entries)
        sweepEntry(path);
}

} // namespace rm
