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

/// Drops escape sequences and every control character but newline and tab, so that text from a host
/// cannot move the cursor of a terminal or disguise what it says.
std::string withoutEscapes(std::string_view text);

/// The last line that is not empty, at most 500 bytes of it.
std::string lastLine(std::string_view text);

} // namespace rm
