// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/lock_file.h"

#include "shared/return_if_error.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
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

Result<void> writeHolder(int descriptor, const std::string& path, const std::string& place) {
    const std::string text = std::to_string(::getpid()) + "\n" + place + "\n";
    if (::ftruncate(descriptor, 0) != 0 ||
        ::pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
        return failErrno("write " + path, errno);
    return {};
}

} // namespace

std::string lockOf(const QString& database) {
    return database.toStdString() + ".lock";
}

Result<LockFile> LockFile::take(const std::string& path, const std::string& what) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return failErrno("open " + path, errno);
    LockFile lock(descriptor, path);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return failErrno("lock " + path, errno);
        return fail(ErrorCode::kUnavailable, "open " + what +
                                                 ": in use by another Ringmaster (pid " +
                                                 holderOf(descriptor) + ")");
    }
    RM_RETURN_IF_ERROR(writeHolder(descriptor, path, {}));
    return lock;
}

Result<void> LockFile::announce(const std::string& place) const {
    return writeHolder(m_descriptor, m_path, place);
}

std::string LockFile::announced(const std::string& path) {
    std::ifstream file(path);
    std::string pid;
    std::string place;
    std::getline(file, pid);
    std::getline(file, place);
    return place;
}

bool LockFile::isHeld(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    const bool isHeld = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(descriptor);
    return isHeld;
}

LockFile::LockFile(LockFile&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_path(std::move(other.m_path)) {}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_path, other.m_path);
    return *this;
}

LockFile::~LockFile() {
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

} // namespace rm
