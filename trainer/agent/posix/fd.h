// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace rm {

/// Owns a file descriptor.
class UniqueFd {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd)
        : m_fd(fd) {}
    UniqueFd(UniqueFd&& other) noexcept
        : m_fd(std::exchange(other.m_fd, -1)) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept;
    ~UniqueFd() { reset(); }

    int get() const { return m_fd; }
    int release() { return std::exchange(m_fd, -1); }
    void reset();
    explicit operator bool() const { return m_fd >= 0; }

private:
    int m_fd = -1;
};

/// open(2) with O_CLOEXEC; the error names `path`.
Result<UniqueFd> openFile(const std::string& path, int flags, unsigned mode = 0600);

/// Reads to the end; more than `maxBytes` is kInvalid. `what` is for messages.
Result<std::string> readToEnd(int fd, size_t maxBytes, const std::string& what);

/// Writes everything to a blocking descriptor.
Result<void> writeAll(int fd, std::span<const std::byte> bytes, const std::string& what);
Result<void> writeAll(int fd, const std::string& text, const std::string& what);

} // namespace rm
