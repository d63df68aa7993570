// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/receive/blob_store.h"

#include "shared/io/file.h"
#include "shared/io/file_hash.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

namespace rm {

namespace {

// -1: there is no regular file.
int64_t sizeOf(const std::string& path) {
    struct stat info = {};
    const bool isFile = ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    return isFile ? info.st_size : -1;
}

bool tryLock(const Descriptor& fd) {
    return ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

// "SHA.XXXXXX.part" belongs to one receiver, unlike "SHA.part".
bool isOwnPartial(const std::string& name) {
    return name.ends_with(".part") && std::count(name.begin(), name.end(), '.') == 2;
}

Result<void> copyBytes(
    const std::string& from, int to, int64_t count, const std::string& toPath,
    const OnWork& onWork = [] {}) {
    RM_ASSIGN_OR_RETURN(const Descriptor source, openFile(from, O_RDONLY | O_NOFOLLOW));
    std::vector<std::byte> buffer(1 << 20);
    while (count > 0) {
        const auto wanted = std::min<int64_t>(count, static_cast<int64_t>(buffer.size()));
        RM_ASSIGN_OR_RETURN(
            const size_t got,
            readSome(source.get(), std::span(buffer).first(static_cast<size_t>(wanted)), from));
        if (got == 0)
            return fail(ErrorCode::kUnavailable, "read " + from + ": it became shorter; try again");
        if (auto written = writeAll(to, std::span(buffer).first(got), toPath); !written)
            return written;
        count -= static_cast<int64_t>(got);
        onWork();
    }
    return {};
}

// Read-only, and changed some time ago, so that the time of any later change differs from it
// however coarse the times of this file system are: verified files are known by it.
Result<void> makeLasting(const Descriptor& fd, const std::string& path) {
    constexpr time_t kAgoS = 10;
    const timespec times[2] = {{0, UTIME_OMIT}, {::time(nullptr) - kAgoS, 0}};
    if (::fchmod(fd.get(), 0400) != 0 || ::futimens(fd.get(), times) != 0)
        return failErrno("make " + path + " read-only", errno);
    return {};
}

} // namespace

BlobStore::BlobStore(std::string folder)
    : m_folder(std::move(folder)) {}

namespace {

using namespace std::chrono_literals;

constexpr const char* kLock = ".lock"; ///< beside the folder; shared by receivers
constexpr auto kReceiversPatience = 1s;
constexpr auto kCleanersPatience = 30s; ///< more than the removal of many files takes
constexpr auto kLockLook = 20ms;

/// The holder of that lock removes what is there, and may have removed the file of the lock.
bool isNamed(const Descriptor& fd, const std::string& path) {
    struct stat opened = {}, named = {};
    return ::fstat(fd.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// For a lock that somebody else has: one that is not shared belongs to a remover of files.
bool isLockShared(const Descriptor& fd) {
    const bool isShared = ::flock(fd.get(), LOCK_SH | LOCK_NB) == 0;
    if (isShared)
        (void)::flock(fd.get(), LOCK_UN);
    return isShared;
}

} // namespace

Result<Descriptor> BlobStore::closeToReceivers(const std::string& folder) {
    const std::string path = folder + kLock;
    const auto began = std::chrono::steady_clock::now();
    for (;;) {
        RM_RETURN_IF_ERROR(makeFolders(folder));
        RM_ASSIGN_OR_RETURN(Descriptor fd, openFile(path, O_RDWR | O_CREAT, 0600));
        const bool isLocked = tryLock(fd);
        if (isLocked && isNamed(fd, path))
            return fd;
        if (!isLocked && errno != EWOULDBLOCK)
            return failErrno("lock " + path, errno);
        const bool isShared = !isLocked && isLockShared(fd);
        const auto waited = std::chrono::steady_clock::now() - began;
        if (waited > (isShared ? kReceiversPatience : kCleanersPatience))
            return fail(ErrorCode::kUnavailable,
                        "lock " + folder +
                            (isShared ? ": files are being received; try again when they are there"
                                      : ": another Ringmaster removes files there; try again when "
                                        "it has ended"));
        std::this_thread::sleep_for(kLockLook);
    }
}

Result<void> BlobStore::prepare() {
    if (const Result<void> made = makeFolders(m_folder); !made)
        return made;
    RM_ASSIGN_OR_RETURN(m_open, openFile(m_folder + kLock, O_RDWR | O_CREAT, 0600));
    // Where a file system has no locks, the age of what is received protects it.
    while (::flock(m_open.get(), LOCK_SH) != 0 && errno == EINTR) {
    }
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(m_folder, error)) {
        if (!isOwnPartial(entry.path().filename()))
            continue;
        const Result<Descriptor> fd = openFile(entry.path(), O_RDWR | O_NOFOLLOW);
        if (fd && tryLock(*fd))
            ::unlink(entry.path().c_str());
    }
    return {};
}

bool BlobStore::has(const Blob& blob) const {
    return sizeOf(pathOf(blob.sha256)) == blob.size;
}

std::string BlobStore::pathOf(const std::string& sha256) const {
    return m_folder + "/" + sha256;
}

int64_t BlobStore::partialSize(const Blob& blob) const {
    const int64_t size = std::max<int64_t>(sizeOf(pathOf(blob.sha256) + ".part"), 0);
    return size <= blob.size ? size : 0;
}

BlobStore::Source BlobStore::openToRead(const std::string& sha256) const {
    const std::string whole = pathOf(sha256);
    if (auto fd = openFile(whole, O_RDONLY | O_NOFOLLOW))
        return {std::move(*fd), true};
    if (auto fd = openFile(whole + ".part", O_RDONLY | O_NOFOLLOW))
        return {std::move(*fd), false};
    // Published between the two.
    if (auto fd = openFile(whole, O_RDONLY | O_NOFOLLOW))
        return {std::move(*fd), true};
    return {};
}

Result<bool> BlobStore::adopt(const Blob& blob, const std::string& path,
                              const OnWork& onWork) const {
    const Result<Descriptor> fd = openFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat info = {};
    if (!fd || ::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_size != blob.size)
        return false;
    const auto found = sha256HexOfFile(path, onWork);
    if (!found || *found != blob.sha256)
        return false;
    RM_ASSIGN_OR_RETURN(IncomingBlob incoming, IncomingBlob::open(*this, blob, 0));
    const Result<void> copied = incoming.copyFrom(fd->get(), path, onWork);
    if (!copied) {
        incoming.discard();
        return tl::unexpected(copied.error());
    }
    const Result<void> stored = incoming.finish(onWork);
    if (!stored && stored.error().code != ErrorCode::kCorrupt) // changed since: not that blob
        return tl::unexpected(stored.error());
    return stored.has_value();
}

int64_t BlobStore::freeBytes() const {
    struct statvfs info = {};
    if (::statvfs(m_folder.c_str(), &info) != 0)
        return 0;
    return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
}

Result<IncomingBlob> IncomingBlob::open(const BlobStore& store, const Blob& blob, int64_t offset) {
    IncomingBlob incoming;
    incoming.m_blob = blob;
    incoming.m_size = offset;
    incoming.m_finalPath = store.pathOf(blob.sha256);
    incoming.m_sharedPath = incoming.m_finalPath + ".part";
    if (store.has(blob))
        return incoming;
    RM_RETURN_IF_ERROR(incoming.openShared(offset));
    return incoming;
}

Result<void> IncomingBlob::append(std::span<const std::byte> bytes) {
    m_size += static_cast<int64_t>(bytes.size());
    if (m_size > m_blob.size)
        return fail(ErrorCode::kInvalid, "receive " + m_blob.sha256 + ": more than the announced " +
                                             std::to_string(m_blob.size) + " bytes");
    return m_fd ? writeAll(m_fd.get(), bytes, m_path) : Result<void>();
}

Result<void> IncomingBlob::copyFrom(int fd, const std::string& path, const OnWork& onWork) {
    if (!m_fd)
        return {};
    m_size = m_blob.size;
    if (::ioctl(m_fd.get(), FICLONE, fd) == 0)
        return {};
    return copyBytes(path, m_fd.get(), m_blob.size, m_path, onWork);
}

Result<void> IncomingBlob::finish(const OnWork& onWork) {
    if (!m_fd)
        return {};
    RM_RETURN_IF_ERROR(makeLasting(m_fd, m_path));
    RM_ASSIGN_OR_RETURN(const std::string sha256, sha256HexOfFile(m_path, onWork));
    if (m_size != m_blob.size || sha256 != m_blob.sha256) {
        discard();
        return fail(ErrorCode::kCorrupt, "receive " + m_blob.sha256 + ": got " +
                                             std::to_string(m_size) + " of " +
                                             std::to_string(m_blob.size) + " bytes with SHA-256 " +
                                             sha256 + "; send it again");
    }
    if (::fsync(m_fd.get()) != 0)
        return failErrno("sync " + m_path, errno);
    if (::rename(m_path.c_str(), m_finalPath.c_str()) != 0)
        return failErrno("publish " + m_finalPath, errno);
    m_fd = Descriptor();
    return {};
}

void IncomingBlob::discard() {
    if (m_fd)
        ::unlink(m_path.c_str());
    m_fd = Descriptor();
}

Result<void> IncomingBlob::openShared(int64_t offset) {
    RM_ASSIGN_OR_RETURN(Descriptor fd, openFile(m_sharedPath, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    // Between open and lock another receiver may have published and removed the file.
    struct stat opened = {}, named = {};
    const bool isOurs = tryLock(fd) && ::fstat(fd.get(), &opened) == 0 &&
                        ::stat(m_sharedPath.c_str(), &named) == 0 && opened.st_ino == named.st_ino;
    if (!isOurs)
        return openOwn(offset);
    if (opened.st_size < offset && isPublished()) {
        ::unlink(m_sharedPath.c_str());
        return {};
    }
    if (opened.st_size < offset)
        return fail(ErrorCode::kUnavailable,
                    "receive " + m_blob.sha256 + ": its partial file is gone; try again");
    // Not made shorter than needed: others may copy from it what they were told that it has.
    const bool isTooLong = opened.st_size > m_blob.size;
    if ((isTooLong && ::ftruncate(fd.get(), offset) != 0) ||
        ::lseek(fd.get(), offset, SEEK_SET) < 0)
        return failErrno("go on with " + m_sharedPath, errno);
    m_path = m_sharedPath;
    m_fd = std::move(fd);
    return {};
}

Result<void> IncomingBlob::openOwn(int64_t offset) {
    struct stat info = {};
    do {
        m_path = m_finalPath + ".XXXXXX.part";
        m_fd = Descriptor(::mkostemps(m_path.data(), 5, O_CLOEXEC));
        if (!m_fd)
            return failErrno("create " + m_path, errno);
        // Until it is locked, another process may take it for a leftover and remove it.
    } while (!tryLock(m_fd) || ::fstat(m_fd.get(), &info) != 0 || info.st_nlink == 0);
    if (offset == 0)
        return {};
    const auto copied = copyBytes(m_sharedPath, m_fd.get(), offset, m_path);
    if (copied || !isPublished())
        return copied;
    // Published meanwhile, which removed the partial file.
    if (::lseek(m_fd.get(), 0, SEEK_SET) < 0)
        return failErrno("write " + m_path, errno);
    return copyBytes(m_finalPath, m_fd.get(), offset, m_path);
}

bool IncomingBlob::isPublished() const {
    return sizeOf(m_finalPath) == m_blob.size;
}

} // namespace rm
