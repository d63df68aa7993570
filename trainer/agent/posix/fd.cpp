// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/posix/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace rm {

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
        reset();
        m_fd = std::exchange(other.m_fd, -1);
    }
    return *this;
}

void UniqueFd::reset() {
    if (m_fd >= 0)
        ::close(m_fd);
    m_fd = -1;
}

Result<UniqueFd> openFile(const std::string& path, int flags, unsigned mode) {
    UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
    if (!fd)
        return failErrno("open " + path, errno);
    return fd;
}

Result<std::string> readToEnd(int fd, size_t maxBytes, const std::string& what) {
    std::string text;
    char buffer[64 * 1024];
    while (true) {
        const ssize_t count = ::read(fd, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return failErrno("read " + what, errno);
        if (count == 0)
            return text;
        text.append(buffer, static_cast<size_t>(count));
        if (text.size() > maxBytes)
            return fail(ErrorCode::kInvalid,
                        "read " + what + ": more than " + std::to_string(maxBytes) + " bytes");
    }
}

Result<void> writeAll(int fd, std::span<const std::byte> bytes, const std::string& what) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return failErrno("write " + what, errno);
        bytes = bytes.subspan(static_cast<size_t>(count));
    }
    return {};
}

Result<void> writeAll(int fd, const std::string& text, const std::string& what) {
    return writeAll(fd, std::as_bytes(std::span(text)), what);
}

} // namespace rm
