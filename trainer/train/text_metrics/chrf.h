// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rm {

inline constexpr size_t kChrfOrder = 6;

/// What chrF of a corpus follows from (Popović 2015), by length of the n-gram of characters, white
/// space left out. Counts of parts of a corpus add up to those of the whole.
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
