// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// A stretch of a text, with the white space in it.
struct WordSpan {
    std::string text;
    bool isOwn = false; ///< the other text does not have it
    bool operator==(const WordSpan&) const = default;
};

/// Two texts with what each has alone.
struct WordDiff {
    std::vector<WordSpan> a, b;
    bool operator==(const WordDiff&) const = default;
};

/// Compares by words, of which a longest common subsequence counts as alike. White space counts
/// as it is. Texts of more than 4000 words each are compared only at their begin and end; what
/// lies between is then each one's own.
WordDiff wordDiff(std::string_view a, std::string_view b);

/// "You [-must-]{+may+} copy": as wdiff and git write it.
std::string wdiffText(std::string_view a, std::string_view b);

} // namespace rm
