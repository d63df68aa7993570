// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace rm {

/// Owns a file descriptor.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd)
        : m_fd(fd) {}
    Descriptor(Descriptor&& other) noexcept
        : m_fd(std::exchange(other.m_fd, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(m_fd, other.m_fd);
        return *this;
    }
    ~Descriptor();

    int get() const { return m_fd; }
    /// Whoever calls this owns it.
    int release() { return std::exchange(m_fd, -1); }
    explicit operator bool() const { return m_fd >= 0; }

private:
    int m_fd = -1;
};

/// open(2) with O_CLOEXEC; the error reads "open PATH: cause".
Result<Descriptor> openFile(const std::string& path, int flags, unsigned mode = 0666);

/// Reads until `buffer` is full or the file ends; 0 at the end of the file.
Result<size_t> readSome(int fd, std::span<std::byte> buffer, const std::string& path);

/// Writes until all is written or an error comes; `written` says how far in either case.
Result<void> writeAll(int fd, std::span<const std::byte> bytes, const std::string& path,
                      size_t* written = nullptr);

} // namespace rm
