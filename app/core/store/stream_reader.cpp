// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/stream_reader.h"

#include "app/core/store/column_codec.h"
#include "app/core/store/stream_rows.h"
#include "shared/return_if_error.h"

#include <sqlite3.h>

#include <algorithm>

namespace rm {

namespace {

/// The part of sorted points that lies in the range.
std::span<const Point> within(std::span<const Point> points, const StreamRange& range) {
    const auto begin = std::partition_point(
        points.begin(), points.end(), [&](const Point& point) { return point.step < range.first; });
    const auto end = std::partition_point(
        begin, points.end(), [&](const Point& point) { return point.step <= range.last; });
    return {begin, end};
}

tl::unexpected<Error> damagedChunk() {
    return fail(ErrorCode::kCorrupt, "read stored samples: damaged");
}

int64_t chunksPerEntry(int level) {
    return int64_t(1) << (4 * (level - 3));
}

} // namespace

StreamReader::Steps StreamReader::stepsOf(const StreamRange& range, int64_t chunk) {
    auto steps = m_database.query("SELECT first_step, last_step FROM chunk "
                                  "WHERE stream = ? AND metric = ? AND seq = ?");
    if (!steps.with(range.stream, range.metric, chunk).next())
        throw SQLite::Exception("a chunk of samples is missing", SQLITE_CORRUPT);
    return {steps.integer(0), steps.integer(1)};
}

int64_t StreamReader::firstChunkWhere(const StreamRange& range, int64_t count,
                                      const std::function<bool(const Steps&)>& condition) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (condition(stepsOf(range, middle)))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

StreamReader::Extent StreamReader::extent(const StreamRange& range) {
    Extent extent;
    int64_t count = 0, points = 0;
    {
        auto series = m_database.query("SELECT chunks, chunk_points FROM series "
                                       "WHERE stream = ? AND metric = ?");
        if (series.with(range.stream, range.metric).next()) {
            count = series.integer(0);
            points = series.integer(1);
        }
    }
    if (count == 0 || range.first > range.last)
        return extent;
    extent.begin = firstChunkWhere(range, count,
                                   [&](const Steps& steps) { return steps.last >= range.first; });
    extent.end =
        firstChunkWhere(range, count, [&](const Steps& steps) { return steps.first > range.last; });
    extent.end = std::max(extent.begin, extent.end);
    extent.wholeBegin = extent.begin;
    extent.wholeEnd = extent.end;
    if (extent.begin < extent.end) {
        extent.wholeBegin += stepsOf(range, extent.begin).first < range.first;
        extent.wholeEnd -= stepsOf(range, extent.end - 1).last > range.last;
        extent.wholeEnd = std::max(extent.wholeBegin, extent.wholeEnd);
    }
    extent.points = points / count * (extent.wholeEnd - extent.wholeBegin);
    return extent;
}

Result<void> StreamReader::visitChunks(const StreamRange& range, int64_t begin, int64_t end,
                                       const PointVisitor& visitor) {
    auto chunks = m_database.query(
        "SELECT chunk.points, chunk.data, axis.steps, axis.walls FROM chunk JOIN axis "
        "ON axis.stream = chunk.stream AND axis.seq = chunk.axis "
        "WHERE chunk.stream = ? AND chunk.metric = ? AND chunk.seq >= ? AND chunk.seq < ? "
        "ORDER BY chunk.seq");
    chunks.with(range.stream, range.metric, begin, end);
    std::vector<Point> points;
    while (chunks.next()) {
        const auto count = static_cast<size_t>(chunks.integer(0));
        const auto values = decodeFloats(chunks.blob(1), count);
        const auto steps = decodeIntegers(chunks.blob(2), count);
        const auto walls = decodeIntegers(chunks.blob(3), count);
        if (!values || !steps || !walls)
            return damagedChunk();
        points.clear();
        for (size_t i = 0; i < count; ++i)
            points.push_back({(*steps)[i], (*walls)[i], (*values)[i]});
        if (const auto visible = within(points, range); !visible.empty())
            visitor(visible);
    }
    return {};
}

Result<void> StreamReader::visitTail(const StreamRange& range, const PointVisitor& visitor) {
    auto tail = m_database.query("SELECT data FROM tail WHERE stream = ? AND last_step >= ? "
                                 "AND first_step <= ? ORDER BY seq");
    tail.with(range.stream, range.first, range.last);
    std::vector<Point> points;
    while (tail.next())
        if (const auto decoded = decodePoints(tail.blob(0), range.metric, points); !decoded)
            return decoded;
    if (const auto visible = within(points, range); !visible.empty())
        visitor(visible);
    return {};
}

Result<void> StreamReader::visit(const StreamRange& range, const PointVisitor& visitor) {
    if (range.first > range.last)
        return {};
    const Extent extent = this->extent(range);
    if (const auto visited = visitChunks(range, extent.begin, extent.end, visitor); !visited)
        return visited;
    return visitTail(range, visitor);
}

Result<std::optional<Point>> StreamReader::lastPoint(const StreamRange& range) {
    std::optional<Point> last;
    const auto keepLast = [&](std::span<const Point> points) { last = points.back(); };
    if (range.first > range.last)
        return last;
    RM_RETURN_IF_ERROR(visitTail(range, keepLast));
    if (last)
        return last;
    const Extent extent = this->extent(range);
    // Several chunks may end at the same step; the last of them has the last point.
    if (extent.begin < extent.end)
        RM_RETURN_IF_ERROR(visitChunks(range, extent.end - 1, extent.end, keepLast));
    return last;
}

Result<void> StreamReader::collect(const StreamRange& range, const Extent& extent, int level,
                                   std::vector<Summary>& summaries) {
    if (range.first > range.last)
        return {};
    const auto addPoints = [&](std::span<const Point> points) {
        for (const Point& point : points)
            summaries.push_back(summaryOf(point));
    };
    if (extent.wholeBegin >= extent.wholeEnd) {
        if (const auto all = visitChunks(range, extent.begin, extent.end, addPoints); !all)
            return all;
        return visitTail(range, addPoints);
    }
    if (const auto head = visitChunks(range, extent.begin, extent.wholeBegin, addPoints); !head)
        return head;
    const auto middle =
        level == 0 ? visitChunks(range, extent.wholeBegin, extent.wholeEnd, addPoints)
                   : collectChunks(range, level, extent.wholeBegin, extent.wholeEnd, summaries);
    if (!middle)
        return middle;
    if (const auto end = visitChunks(range, extent.wholeEnd, extent.end, addPoints); !end)
        return end;
    return visitTail(range, addPoints);
}

Result<void> StreamReader::collectChunks(const StreamRange& range, int level, int64_t begin,
                                         int64_t end, Summaries& summaries) {
    if (begin >= end)
        return {};
    if (level == 1)
        return collectFirstLevel(range, begin, end, summaries);
    if (level <= 3)
        return collectRows(range, level, begin, end, summaries);
    // Entries of a level are aligned; the parts before the first and after the last whole one are
    // read from the level below.
    const int64_t size = chunksPerEntry(level);
    const int64_t firstBlock = (begin + size - 1) / size;
    const int64_t endBlock = end / size;
    if (firstBlock >= endBlock)
        return collectChunks(range, level - 1, begin, end, summaries);
    if (const auto head = collectChunks(range, level - 1, begin, firstBlock * size, summaries);
        !head)
        return head;
    if (const auto middle = collectRows(range, level, firstBlock, endBlock, summaries); !middle)
        return middle;
    return collectChunks(range, level - 1, endBlock * size, end, summaries);
}

Result<void> StreamReader::collectFirstLevel(const StreamRange& range, int64_t begin, int64_t end,
                                             Summaries& summaries) {
    auto chunks = m_database.query(
        "SELECT chunk.points, axis.pyramid, chunk.pyramid FROM chunk JOIN axis "
        "ON axis.stream = chunk.stream AND axis.seq = chunk.axis "
        "WHERE chunk.stream = ? AND chunk.metric = ? AND chunk.seq >= ? AND chunk.seq < ? "
        "ORDER BY chunk.seq");
    chunks.with(range.stream, range.metric, begin, end);
    while (chunks.next()) {
        RM_ASSIGN_OR_RETURN(const auto level, decodeLevel(chunks.blob(1), chunks.blob(2),
                                                          static_cast<size_t>(chunks.integer(0))));
        summaries.insert(summaries.end(), level.begin(), level.end());
    }
    return {};
}

Result<void> StreamReader::collectRows(const StreamRange& range, int level, int64_t begin,
                                       int64_t end, Summaries& summaries) {
    // A row of the table holds the entries of the level below: all of a chunk for level 2, else
    // sixteen.
    const auto perRow = static_cast<int64_t>(level == 2 ? 1 : kFanOut);
    auto rows = m_database.query("SELECT seq, data FROM pyramid WHERE stream = ? AND metric = ? "
                                 "AND level = ? AND seq >= ? AND seq <= ? ORDER BY seq");
    rows.with(range.stream, range.metric, level + 1, begin / perRow, (end - 1) / perRow);
    while (rows.next()) {
        RM_ASSIGN_OR_RETURN(const auto entries, decodeSummaries(rows.blob(1)));
        if (level == 2) {
            summaries.insert(summaries.end(), entries.begin(), entries.end());
            continue;
        }
        const int64_t first = rows.integer(0) * perRow;
        for (int64_t i = 0; i < static_cast<int64_t>(entries.size()); ++i)
            if (first + i >= begin && first + i < end)
                summaries.push_back(entries[static_cast<size_t>(i)]);
    }
    return {};
}

} // namespace rm
