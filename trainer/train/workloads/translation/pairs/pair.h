// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// A sentence and its translation: UTF-8, one line each, no white space at the ends.
struct Pair {
    std::string source;
    std::string target;
    bool operator==(const Pair&) const = default;
};

/// The pairs of a file or a piece of one.
struct PairHarvest {
    std::vector<Pair> pairs;
    int64_t bad = 0;                ///< lines or messages that are no pair
    std::vector<std::string> named; ///< the first of the bad ones: "PATH:12: why"

    static constexpr size_t kMaxNamed = 10;

    /// Adds a line's two sides, or refuses it if one is empty or no UTF-8.
    void add(std::string_view source, std::string_view target, const std::string& path,
             int64_t number);
    /// Counts a line or message that is no pair; names it while there are few.
    void refuse(const std::string& path, int64_t number, std::string_view why);
};

/// What begins a text, behind the byte order mark that it may have.
std::string_view withoutByteOrderMark(std::string_view text);

/// `text` as a Pair wants it: every run of white space and control characters is one space.
std::string tidyLine(std::string_view text);

} // namespace rm
