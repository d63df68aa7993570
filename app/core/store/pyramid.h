// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/series.h"
#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rm {

inline constexpr size_t kFanOut = 16; ///< entries of a level that one entry of the next summarizes

/// A summary of consecutive points of a series. Stored as it is: 48 bytes, little-endian.
struct Summary {
    int64_t firstStep = 0, lastStep = 0;
    int64_t wallNs = 0;                         ///< of the last point
    float min = 0, max = 0, mean = 0, last = 0; ///< of the values that are not NaN; NaN: none
    uint32_t count = 0;                         ///< values that are not NaN
    uint32_t points = 0;                        ///< all of them
};
static_assert(sizeof(Summary) == 48);

Summary summaryOf(const Point& point);
/// Combines neighbouring summaries, in order; at least one.
Summary merged(std::span<const Summary> neighbours);
/// Summarizes points, in order; at least one.
Summary summaryOf(std::span<const Point> points);
/// The next level: one for kFanOut, the last for what is left.
std::vector<Summary> coarser(std::span<const Summary> level);
std::vector<Summary> firstLevel(std::span<const Point> points);

/// At most maxBuckets with about equally many points each.
std::vector<Bucket> toBuckets(std::span<const Summary> summaries, size_t maxBuckets);

/// Level 1 of a chunk. What depends only on the axis is stored with the axis, the rest with each
/// metric's values.
std::vector<std::byte> encodeAxisLevel(std::span<const Summary> level);
std::vector<std::byte> encodeValueLevel(std::span<const Summary> level);
Result<std::vector<Summary>> decodeLevel(std::span<const std::byte> axis,
                                         std::span<const std::byte> values, size_t chunkPoints);

/// Rows of the table `pyramid`.
std::vector<std::byte> encodeSummaries(std::span<const Summary> summaries);
Result<std::vector<Summary>> decodeSummaries(std::span<const std::byte> bytes);

} // namespace rm
