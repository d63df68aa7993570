// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// Journal names: "rank-00003", "node-00001". Boards have the same names, logs "rank-00003.log".
std::string rankName(int rank);
std::string nodeName(int nodeIndex);
std::string rankLogName(int rank);

/// One file of a journal. A writer never continues a file that another one began, but adds a
/// segment, so that a damaged or shortened file costs only what it held.
struct Segment {
    std::string source; ///< rankName() or nodeName()
    int attempt = 0;    ///< 0: the only file of a journal of release 0.1.0, "rank-00003.rmj"
    int number = 0;     ///< 1, 2, ... within the attempt
    uint32_t epoch = 0; ///< random: tells it from one that was lost with its disk
    auto operator<=>(const Segment&) const = default;

    /// "rank-00003-a00002-s0001-1f2e3d4c.rmj"
    std::string fileName() const;
    /// "journal/" and fileName(): in a run directory, on the wire and in cursors.
    std::string path() const;
};

/// nullopt: it is no file name of a segment.
std::optional<Segment> parseSegment(std::string_view fileName);
/// nullopt: it is no path() of a segment.
std::optional<Segment> parseSegmentPath(std::string_view path);

/// The segments of a journal that lie in `folder`, in the order in which they were written.
std::vector<Segment> listSegments(const std::string& folder, const std::string& source);

} // namespace rm
