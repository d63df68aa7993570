// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace rm {

/// The last lines of a file behind offset `from`, at most 4 KiB, as text that is safe to show:
/// valid UTF-8 without terminal escapes and control characters but newline and tab. Empty when
/// there is none.
std::string logTail(const std::string& path, uint64_t from = 0);

/// `text` as logTail() cleans it: without terminal escapes and control characters but newline and
/// tab, and with '?' for each byte that is not UTF-8.
std::string plainText(const std::string& text);

} // namespace rm
