// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/posix/fd.h"

#include "shared/return_if_error.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace rm {

Result<size_t> readAvailable(int fd, std::span<std::byte> buffer, const std::string& what) {
    while (true) {
        const ssize_t count = ::read(fd, buffer.data(), buffer.size());
        if (count >= 0)
            return static_cast<size_t>(count);
        if (errno != EINTR)
            return failErrno("read " + what, errno);
    }
}

Result<std::string> readToEnd(int fd, size_t maxBytes, const std::string& what) {
    std::string text;
    std::array<std::byte, 64 * 1024> buffer;
    while (true) {
        RM_ASSIGN_OR_RETURN(const size_t count, readSome(fd, buffer, what));
        if (count == 0)
            return text;
        text.append(reinterpret_cast<const char*>(buffer.data()), count);
        if (text.size() > maxBytes)
            return fail(ErrorCode::kInvalid,
                        "read " + what + ": more than " + std::to_string(maxBytes) + " bytes");
    }
}

Result<void> writeText(int fd, const std::string& text, const std::string& what) {
    return writeAll(fd, std::as_bytes(std::span(text)), what);
}

} // namespace rm
