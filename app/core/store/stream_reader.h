// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/database.h"
#include "app/core/store/pyramid.h"

#include <functional>
#include <utility>

namespace rm {

/// The visible part of one metric of one stream: steps from `first` to `last`, inclusive.
struct StreamRange {
    int64_t stream = 0;
    int64_t metric = 0;
    int64_t first = 0;
    int64_t last = 0;
};

using PointVisitor = std::function<void(std::span<const Point>)>;

/// Reads what StreamWriter stored. Inside the caller's ReadScope; throws SQLite::Exception.
class StreamReader {
public:
    explicit StreamReader(Database& database)
        : m_database(database) {}

    /// In order, in pieces.
    Result<void> visit(const StreamRange& range, const PointVisitor& visitor);
    Result<std::optional<Point>> lastPoint(const StreamRange& range);

    /// Which chunks lie in a range, and about how many points they have.
    struct Extent {
        int64_t begin = 0, end = 0;           ///< chunks that touch the range
        int64_t wholeBegin = 0, wholeEnd = 0; ///< chunks that lie in it
        int64_t points = 0;
    };
    Extent extent(const StreamRange& range);

    /// Appends entries of about `level` that cover exactly the range: 16^level points each in the
    /// middle, less at the ends.
    Result<void> collect(const StreamRange& range, const Extent& extent, int level,
                         std::vector<Summary>& summaries);

private:
    struct Steps {
        int64_t first, last;
    };
    using Summaries = std::vector<Summary>;

    Steps stepsOf(const StreamRange& range, int64_t chunk);
    int64_t firstChunkWhere(const StreamRange& range, int64_t count,
                            const std::function<bool(const Steps&)>& condition);
    Result<void> visitChunks(const StreamRange& range, int64_t begin, int64_t end,
                             const PointVisitor& visitor);
    Result<void> visitTail(const StreamRange& range, const PointVisitor& visitor);
    Result<void> collectChunks(const StreamRange& range, int level, int64_t begin, int64_t end,
                               Summaries& summaries);
    Result<void> collectFirstLevel(const StreamRange& range, int64_t begin, int64_t end,
                                   Summaries& summaries);
    /// Entries [begin, end) of a level of at least 2, where those of level 2 count per chunk.
    Result<void> collectRows(const StreamRange& range, int level, int64_t begin, int64_t end,
                             Summaries& summaries);

    Database& m_database;
};

} // namespace rm
