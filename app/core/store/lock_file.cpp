// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace rm {

namespace {

std::string holderOf(int descriptor) {
    char text[32] = {};
    const ssize_t size = ::pread(descriptor, text, sizeof text - 1, 0);
    const std::string pid(text, size > 0 ? static_cast<size_t>(size) : 0);
    const size_t end = pid.find_first_not_of("0123456789");
    return end == 0 || pid.empty() ? "unknown" : pid.substr(0, end);
}

Result<void> writePid(int descriptor, const std::string& path) {
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(descriptor, 0) != 0 ||
        ::pwrite(descriptor, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
        return failErrno("write " + path, errno);
    return {};
}

} // namespace

Result<LockFile> LockFile::take(const std::string& path, const std::string& what) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return failErrno("open " + path, errno);
    LockFile lock(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return failErrno("lock " + path, errno);
        return fail(ErrorCode::kUnavailable, "open " + what +
                                                 ": in use by another Ringmaster (pid " +
                                                 holderOf(descriptor) + ")");
    }
    if (const auto written = writePid(descriptor, path); !written)
        return tl::unexpected<Error>(written.error());
    return lock;
}

LockFile::LockFile(LockFile&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)) {}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
}

LockFile::~LockFile() {
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

} // namespace rm
