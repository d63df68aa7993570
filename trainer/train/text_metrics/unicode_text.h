// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// Code points of a text in UTF-8; bytes that are none become U+FFFD, one each.
std::u32string codePoints(std::string_view text);

/// Whether all of `text` is UTF-8.
bool isWholeUtf8(std::string_view text);

/// Whether Python's str.split() takes `point` for white space.
bool isUnicodeSpace(char32_t point);

/// As Python's str.split(): the words between runs of white space.
std::vector<std::u32string_view> splitWords(std::u32string_view text);

/// As Python's str.rstrip().
std::u32string_view withoutTrailingSpace(std::u32string_view text);

} // namespace rm
