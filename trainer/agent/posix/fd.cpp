// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/posix/fd.h"

#include <array>

namespace rm {

Result<std::string> readToEnd(int fd, size_t maxBytes, const std::string& what) {
    std::string text;
    std::array<std::byte, 64 * 1024> buffer;
    while (true) {
        const Result<size_t> count = readSome(fd, buffer, what);
        if (!count)
            return tl::unexpected(count.error());
        if (*count == 0)
            return text;
        text.append(reinterpret_cast<const char*>(buffer.data()), *count);
        if (text.size() > maxBytes)
            return fail(ErrorCode::kInvalid,
                        "read " + what + ": more than " + std::to_string(maxBytes) + " bytes");
    }
}

Result<void> writeText(int fd, const std::string& text, const std::string& what) {
    return writeAll(fd, std::as_bytes(std::span(text)), what);
}

} // namespace rm
