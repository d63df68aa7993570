// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/series.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace rm {

/// Within so long ranks that do the same write the same.
inline constexpr int64_t kFoldNs = 1'000'000'000;

/// A line, and the same one of other ranks at about the same time.
struct FoldedLine {
    LogLine line;                     ///< the first
    std::vector<LogLine> others = {}; ///< each of another rank

    std::vector<int> ranks() const; ///< in order
    /// Whether the line is the same of a rank that is not among them.
    bool takes(const LogLine& other) const;
};

/// "[ranks 0-7]", "[ranks 0, 2-3]".
std::string rankRangesText(const std::vector<int>& ranks);
/// "node-a:3", or rankRangesText() where there are several.
std::string placeText(const FoldedLine& folded);

/// Folds lines that come by time.
class LogFolder {
public:
    /// `sink` gets each line once no other can join it; false: it wants no more.
    explicit LogFolder(std::function<bool(const FoldedLine&)> sink)
        : m_sink(std::move(sink)) {}

    bool add(const LogLine& line);
    bool finish(); ///< no line comes any more

private:
    bool giveUpTo(int64_t wallNs);

    std::function<bool(const FoldedLine&)> m_sink;
    std::deque<FoldedLine> m_open; ///< by time
    uint64_t m_given = 0;
    std::unordered_map<std::string, uint64_t> m_newest; ///< number of the last with a text
};

} // namespace rm
