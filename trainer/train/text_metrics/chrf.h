// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rm {

inline constexpr size_t kChrfOrder = 6;

/// The counts from which chrF of a corpus is computed (Popović 2015), by length of the character
/// n-gram, without white space. The counts of parts of a corpus can be added.
struct ChrfCounts {
    std::array<int64_t, kChrfOrder> hypothesis{};
    std::array<int64_t, kChrfOrder> reference{};
    std::array<int64_t, kChrfOrder> matches{};
    bool operator==(const ChrfCounts&) const = default;
};

/// Adds one sentence in UTF-8 and its one reference.
void addSentence(ChrfCounts& counts, std::string_view hypothesis, std::string_view reference);

/// 0 to 100: sacreBLEU's `nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no`, beta 2.
double chrf(const ChrfCounts& counts);

} // namespace rm
