// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rm {

/// The last 64 KiB that a program wrote to its stderr.
class ErrorTail {
public:
    static constexpr size_t kKeep = 64 * 1024;

    void append(std::string_view bytes);
    /// Without terminal escapes and control characters.
    std::string text() const;

private:
    std::string m_bytes;
};

/// Drops escape sequences and every control character but newline and tab: what a host sent is
/// never to move a terminal's cursor or a reader's eye.
std::string withoutEscapes(std::string_view text);

/// The last line that is not empty, at most 500 bytes of it.
std::string lastLine(std::string_view text);

} // namespace rm
