// SPDX-License-Identifier: Apache-2.0
// Preloaded into what runs on a node of a test: a disk that fails, and a time of day that jumps, as
// the file of NodeFaults says. It stands in the place of the C library's functions, so it uses
// nothing of the C++ library.
#include "tests/torture/node_faults.h"

#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define RM_REPLACES extern "C" __attribute__((visibility("default")))

using rm::torture::NodeFaults;

namespace {

constexpr int64_t kNsPerS = 1'000'000'000;
constexpr int kMostVariables = 1000;

NodeFaults* faults = nullptr;
decltype(&::clock_gettime) theirClock = nullptr;

template <typename Function>
Function* theirs(const char* name, Function* /*of that type*/) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

__attribute__((constructor)) void begin() {
    theirClock = theirs("clock_gettime", &::clock_gettime);
    if (const char* path = std::getenv(rm::torture::kFaultsVariable))
        faults = rm::torture::mapFaults(path);
}

uint64_t mixed(uint64_t x) { // splitmix64
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

bool isConcerned(const char* path) {
    const char* found = std::strstr(path, faults->diskPart);
    return found && (!faults->diskPartIsEnd || found[std::strlen(faults->diskPart)] == '\0');
}

bool isConcerned(int file) {
    char link[32], path[PATH_MAX];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = ::readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return isConcerned(path);
}

/// Whether a call that changes something at that path fails, as the disk is read-only.
bool failsAt(int folder, const char* path) {
    if (!faults || !faults->diskIsReadOnly || !path)
        return false;
    char whole[2 * PATH_MAX] = {};
    if (path[0] != '/' && folder == AT_FDCWD && !::getcwd(whole, PATH_MAX))
        return false;
    if (path[0] != '/' && folder != AT_FDCWD) {
        char link[32];
        std::snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        if (::readlink(link, whole, PATH_MAX - 1) < 0)
            return false;
    }
    std::strncat(whole, "/", 1);
    std::strncat(whole, path, PATH_MAX - 1);
    if (!isConcerned(whole))
        return false;
    ++faults->diskErrors;
    errno = EROFS;
    return true;
}

bool opensToWrite(int flags) {
    return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
}

/// A random number if this call is to fail, else 0.
uint64_t failsBy(int file) {
    const uint32_t share = faults ? faults->diskPerMille.load() : 0;
    if (share == 0 || !isConcerned(file))
        return 0;
    const uint64_t random = mixed(faults->diskSeed + (uint64_t{faults->diskCalls++} << 32));
    if (random % 1000 >= share)
        return 0;
    return random | 1;
}

void setError() {
    ++faults->diskErrors;
    errno = EIO;
}

bool isReadOnly(int file) {
    if (!faults || !faults->diskIsReadOnly || !isConcerned(file))
        return false;
    ++faults->diskErrors;
    errno = EROFS;
    return true;
}

bool failsToSync(int file) {
    if (isReadOnly(file))
        return true;
    const bool fails = failsBy(file) != 0;
    if (fails)
        setError();
    return fails;
}

/// Half of the bytes are written, or none with an error.
template <typename Write>
ssize_t writeFaulty(int file, size_t bytes, const Write& write) {
    if (isReadOnly(file))
        return -1;
    const uint64_t random = failsBy(file);
    if (random == 0)
        return write(bytes);
    if (random / 1000 % 2 == 0 && bytes > 1)
        return write(bytes / 2);
    setError();
    return -1;
}

int64_t aheadNs() {
    return faults ? faults->clockAheadNs.load() : 0;
}

timespec plus(const timespec& time, int64_t ns) {
    const int64_t sum = time.tv_sec * kNsPerS + time.tv_nsec + ns;
    return {sum / kNsPerS, sum % kNsPerS};
}

} // namespace

RM_REPLACES int fsync(int file) {
    static const auto next = theirs("fsync", &::fsync);
    return failsToSync(file) ? -1 : next(file);
}

RM_REPLACES int fdatasync(int file) {
    static const auto next = theirs("fdatasync", &::fdatasync);
    return failsToSync(file) ? -1 : next(file);
}

RM_REPLACES ssize_t write(int file, const void* bytes, size_t size) {
    static const auto next = theirs("write", &::write);
    return writeFaulty(file, size, [&](size_t some) { return next(file, bytes, some); });
}

RM_REPLACES ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
    static const auto next = theirs("pwrite", &::pwrite);
    return writeFaulty(file, size, [&](size_t some) { return next(file, bytes, some, at); });
}

RM_REPLACES ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
    return ::pwrite(file, bytes, size, at);
}

RM_REPLACES ssize_t writev(int file, const iovec* parts, int count) {
    static const auto next = theirs("writev", &::writev);
    return writeFaulty(file, 1, [&](size_t) { return next(file, parts, count); });
}

RM_REPLACES int openat(int folder, const char* path, int flags, ...) {
    static const auto next = theirs("openat", &::openat);
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return opensToWrite(flags) && failsAt(folder, path) ? -1 : next(folder, path, flags, mode);
}

RM_REPLACES int open(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return ::openat(AT_FDCWD, path, flags, mode);
}

RM_REPLACES int open64(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return ::openat(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

RM_REPLACES int rename(const char* from, const char* to) noexcept {
    static const auto next = theirs("rename", &::rename);
    return failsAt(AT_FDCWD, to) ? -1 : next(from, to);
}

RM_REPLACES int unlink(const char* path) noexcept {
    static const auto next = theirs("unlink", &::unlink);
    return failsAt(AT_FDCWD, path) ? -1 : next(path);
}

RM_REPLACES int mkdir(const char* path, mode_t mode) noexcept {
    static const auto next = theirs("mkdir", &::mkdir);
    return failsAt(AT_FDCWD, path) ? -1 : next(path, mode);
}

RM_REPLACES int ftruncate(int file, off_t size) noexcept {
    static const auto next = theirs("ftruncate", &::ftruncate);
    return isReadOnly(file) ? -1 : next(file, size);
}

// Files keep the machine's own time, as those of a file server do.
RM_REPLACES int clock_gettime(clockid_t clock, timespec* time) {
    const int code = theirClock ? theirClock(clock, time)
                                : static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
    if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        *time = plus(*time, aheadNs());
    return code;
}

RM_REPLACES int gettimeofday(timeval* time, void* /*zone*/) noexcept {
    timespec now{};
    const int code = ::clock_gettime(CLOCK_REALTIME, &now);
    *time = {now.tv_sec, now.tv_nsec / 1000};
    return code;
}

RM_REPLACES time_t time(time_t* place) noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    if (place)
        *place = now.tv_sec;
    return now.tv_sec;
}

// The kernel, which waits, knows nothing of the time that its caller sees.
RM_REPLACES int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                       const timespec* until) {
    static const auto next = theirs("pthread_cond_timedwait", &::pthread_cond_timedwait);
    const bool isMonotonic = condition->__data.__wrefs & 2; // as glibc keeps it
    const timespec shifted = isMonotonic ? *until : plus(*until, -aheadNs());
    return next(condition, mutex, &shifted);
}

/// An agent chooses what its ranks inherit, and this library is not of it.
RM_REPLACES int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* files,
                            const posix_spawnattr_t* attributes, char* const arguments[],
                            char* const variables[]) {
    static const auto next = theirs("posix_spawn", &::posix_spawn);
    constexpr const char* kPreload = "LD_PRELOAD=";
    char preload[PATH_MAX];
    const char* mine = std::getenv("LD_PRELOAD");
    std::snprintf(preload, sizeof preload, "%s%s", kPreload, mine ? mine : "");
    char* all[kMostVariables + 2];
    int count = 0;
    for (; variables[count] && count < kMostVariables; ++count)
        all[count] = variables[count];
    all[count++] = preload;
    all[count] = nullptr;
    return next(pid, path, files, attributes, arguments, all);
}
