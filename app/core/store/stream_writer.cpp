// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/stream_writer.h"

#include "app/core/store/column_codec.h"
#include "shared/return_if_error.h"

#include <algorithm>

namespace rm {

namespace {

Point pointOf(const StreamRows& rows, const StreamRows::Column& column, size_t index) {
    const uint32_t row = column.rows[index];
    return {rows.steps[row], rows.walls[row], column.values[index]};
}

/// The length differs between streams, so that streams growing at the same rate are not all folded
/// in one commit.
size_t chunkPointsOf(int64_t stream) {
    return StreamWriter::kChunkPoints - 128 * static_cast<size_t>(stream % 16);
}

/// How many of a metric's `count` points move from the tail into chunks now.
size_t takenOf(size_t count, size_t chunkPoints, bool all) {
    if (all || count < StreamWriter::kMinChunkPoints)
        return all ? count : 0;
    return count < chunkPoints ? count : count - count % chunkPoints;
}

} // namespace

StreamWriter::Stream& StreamWriter::stream(int64_t id) {
    const auto [entry, isNew] = m_streams.try_emplace(id);
    Stream& stream = entry->second;
    if (!isNew)
        return stream;
    auto tail = m_database.query("SELECT coalesce(max(seq) + 1, 0), total(tier = 0), "
                                 "total(iif(tier < 2, points, 0)), max(last_step) FROM tail "
                                 "WHERE stream = ?");
    if (tail.with(id).next()) {
        stream.nextSeq = tail.integer(0);
        stream.smallRows = tail.number(1);
        stream.tailPoints = tail.integer(2);
        if (!tail.isNull(3))
            stream.lastStep = tail.integer(3);
    }
    auto chunks = m_database.query("SELECT max(last_step) FROM chunk WHERE stream = ?");
    if (chunks.with(id).next() && !chunks.isNull(0))
        stream.lastStep = std::max(stream.lastStep, chunks.integer(0));
    auto series = m_database.query("SELECT metric FROM series WHERE stream = ?");
    series.with(id);
    while (series.next())
        stream.metrics.insert(series.integer(0));
    return stream;
}

void StreamWriter::noteMetrics(int64_t id, Stream& stream, const StreamRows& rows) {
    for (const auto& [metric, column] : rows.columns)
        if (stream.metrics.insert(metric).second)
            m_database.query("INSERT INTO series (stream, metric) VALUES (?, ?)")
                .with(id, metric)
                .run();
}

void StreamWriter::insertTail(int64_t id, Stream& stream, Tier tier, const StreamRows& rows) {
    const auto data = encodeRows(rows);
    m_database
        .query("INSERT INTO tail (stream, seq, tier, first_step, last_step, points, data) "
               "VALUES (?, ?, ?, ?, ?, ?, ?)")
        .with(id, stream.nextSeq++, static_cast<int>(tier), rows.steps.front(), rows.steps.back(),
              static_cast<int64_t>(rows.size()), std::span<const std::byte>(data))
        .run();
    stream.smallRows += tier == kSmall;
    if (tier != kCarried)
        stream.tailPoints += static_cast<int64_t>(rows.size());
    stream.lastStep = std::max(stream.lastStep, rows.steps.back());
}

Result<StreamRows> StreamWriter::takeTail(int64_t id, Stream& stream, Tier highest) {
    StreamRows rows;
    auto tail = m_database.query("SELECT data, tier, points FROM tail "
                                 "WHERE stream = ? AND tier <= ? ORDER BY seq");
    tail.with(id, static_cast<int>(highest));
    while (tail.next()) {
        RM_ASSIGN_OR_RETURN(const auto more, decodeRows(tail.blob(0)));
        rm::append(rows, more);
        if (tail.number(1) != kCarried)
            stream.tailPoints -= tail.integer(2);
    }
    m_database.query("DELETE FROM tail WHERE stream = ? AND tier <= ?")
        .with(id, static_cast<int>(highest))
        .run();
    stream.smallRows = 0;
    return rows;
}

Result<void> StreamWriter::mergeSmallRows(int64_t id, Stream& stream) {
    // The small rows are the newest ones, so the merged row may stand at the end.
    RM_ASSIGN_OR_RETURN(const auto rows, takeTail(id, stream, kSmall));
    insertTail(id, stream, kLarge, rows);
    return {};
}

Result<void> StreamWriter::append(int64_t id, StreamRows rows) {
    if (rows.size() == 0)
        return {};
    Stream& state = stream(id);
    noteMetrics(id, state, rows);
    sortBySteps(rows);
    if (rows.steps.front() < state.lastStep)
        return appendOutOfOrder(id, state, std::move(rows));
    const bool isLarge = rows.size() >= kSmallRows;
    if (isLarge && state.smallRows > 0)
        if (const auto merged = mergeSmallRows(id, state); !merged)
            return merged;
    insertTail(id, state, isLarge ? kLarge : kSmall, rows);
    if (state.tailPoints >= static_cast<int64_t>(chunkPointsOf(id)))
        return compact(id, state, false);
    if (state.smallRows >= kSmallRows)
        return mergeSmallRows(id, state);
    return {};
}

Result<void> StreamWriter::close(int64_t id) {
    return compact(id, stream(id), true);
}

Result<void> StreamWriter::compact(int64_t id, Stream& state, bool all) {
    RM_ASSIGN_OR_RETURN(const auto rows, takeTail(id, state, kCarried));
    // Metrics that are in the same rows share one axis.
    std::map<std::vector<uint32_t>, std::vector<int64_t>> groups;
    for (const auto& [metric, column] : rows.columns)
        groups[column.rows].push_back(metric);
    std::map<int64_t, size_t> firstKept;
    for (const auto& [group, metrics] : groups) {
        const size_t taken = takenOf(group.size(), chunkPointsOf(id), all);
        if (const auto stored = storeChunks(id, rows, metrics, taken); !stored)
            return stored;
        if (taken < group.size())
            for (const int64_t metric : metrics)
                firstKept[metric] = taken;
    }
    if (!firstKept.empty())
        insertTail(id, state, kCarried, rest(rows, firstKept));
    return {};
}

Result<void> StreamWriter::storeChunks(int64_t id, const StreamRows& rows,
                                       const std::vector<int64_t>& metrics, size_t count) {
    const size_t length = chunkPointsOf(id);
    for (size_t begin = 0; begin < count; begin += length) {
        const size_t end = std::min(count, begin + length);
        std::optional<int64_t> axis;
        for (const int64_t metric : metrics) {
            std::vector<Point> points;
            for (size_t i = begin; i < end; ++i)
                points.push_back(pointOf(rows, rows.columns.at(metric), i));
            if (!axis)
                axis = storeAxis(id, points);
            if (const auto stored = storeChunk(id, metric, *axis, points); !stored)
                return stored;
        }
    }
    return {};
}

int64_t StreamWriter::storeAxis(int64_t id, std::span<const Point> points) {
    std::vector<int64_t> steps, walls;
    for (const Point& point : points) {
        steps.push_back(point.step);
        walls.push_back(point.wallNs);
    }
    int64_t seq = 0;
    {
        auto last = m_database.query("SELECT coalesce(max(seq) + 1, 0) FROM axis WHERE stream = ?");
        if (last.with(id).next())
            seq = last.integer(0);
    }
    const auto stepBytes = encodeColumn(std::span<const int64_t>(steps));
    const auto wallBytes = encodeColumn(std::span<const int64_t>(walls));
    const auto pyramid = encodeAxisLevel(firstLevel(points));
    m_database
        .query("INSERT INTO axis (stream, seq, points, steps, walls, pyramid) "
               "VALUES (?, ?, ?, ?, ?, ?)")
        .with(id, seq, static_cast<int64_t>(points.size()), std::span(stepBytes),
              std::span(wallBytes), std::span(pyramid))
        .run();
    return seq;
}

Result<void> StreamWriter::storeChunk(int64_t id, int64_t metric, int64_t axis,
                                      std::span<const Point> points) {
    std::vector<float> values;
    for (const Point& point : points)
        values.push_back(point.value);
    const auto first = firstLevel(points);
    const auto second = coarser(first);
    int64_t seq = 0;
    {
        auto series = m_database.query("SELECT chunks FROM series WHERE stream = ? AND metric = ?");
        if (series.with(id, metric).next())
            seq = series.integer(0);
    }
    const auto data = encodeColumn(std::span<const float>(values));
    const auto firstBytes = encodeValueLevel(first);
    const auto count = static_cast<int64_t>(points.size());
    m_database
        .query("INSERT INTO chunk (stream, metric, seq, axis, first_step, last_step, points, data, "
               "pyramid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(id, metric, seq, axis, points.front().step, points.back().step, count,
              std::span(data), std::span(firstBytes))
        .run();
    m_database
        .query("UPDATE series SET chunks = chunks + 1, chunk_points = chunk_points + ? "
               "WHERE stream = ? AND metric = ?")
        .with(count, id, metric)
        .run();
    const auto secondBytes = encodeSummaries(second);
    m_database
        .query("INSERT INTO pyramid (stream, metric, level, seq, data) VALUES (?, ?, 3, ?, ?)")
        .with(id, metric, seq, std::span(secondBytes))
        .run();
    return addToLevel(id, metric, 4, seq, merged(second));
}

Result<void> StreamWriter::addToLevel(int64_t id, int64_t metric, int level, int64_t index,
                                      const Summary& summary) {
    const auto fanOut = static_cast<int64_t>(kFanOut);
    std::vector<Summary> row;
    {
        auto stored = m_database.query("SELECT data FROM pyramid WHERE stream = ? AND metric = ? "
                                       "AND level = ? AND seq = ?");
        if (stored.with(id, metric, level, index / fanOut).next()) {
            RM_ASSIGN_OR_RETURN(auto summaries, decodeSummaries(stored.blob(0)));
            row = std::move(summaries);
        }
    }
    row.push_back(summary);
    const auto bytes = encodeSummaries(row);
    m_database
        .query("INSERT INTO pyramid (stream, metric, level, seq, data) VALUES (?1, ?2, ?3, ?4, ?5) "
               "ON CONFLICT (stream, metric, level, seq) DO UPDATE SET data = ?5")
        .with(id, metric, level, index / fanOut, std::span(bytes))
        .run();
    if (row.size() < kFanOut)
        return {};
    return addToLevel(id, metric, level + 1, index / fanOut, merged(row));
}

Result<void> StreamWriter::appendOutOfOrder(int64_t id, Stream& state, StreamRows rows) {
    StreamRows all;
    if (const auto taken = takeChunksBehind(id, rows.steps.front(), all); !taken)
        return taken;
    RM_ASSIGN_OR_RETURN(const auto tail, takeTail(id, state, kCarried));
    rm::append(all, tail);
    rm::append(all, rows);
    sortBySteps(all);
    insertTail(id, state, kLarge, all);
    if (state.tailPoints >= static_cast<int64_t>(chunkPointsOf(id)))
        return compact(id, state, false);
    return {};
}

Result<void> StreamWriter::takeChunksBehind(int64_t id, int64_t step, StreamRows& rows) {
    std::map<int64_t, StreamRows> byAxis;
    std::map<int64_t, int64_t> firstTaken;
    {
        auto chunks = m_database.query(
            "SELECT chunk.metric, chunk.seq, chunk.axis, chunk.points, chunk.data, axis.steps, "
            "axis.walls FROM chunk JOIN axis ON axis.stream = chunk.stream AND axis.seq = "
            "chunk.axis "
            "WHERE chunk.stream = ? AND chunk.last_step > ? ORDER BY chunk.metric, chunk.seq");
        chunks.with(id, step);
        while (chunks.next()) {
            const auto count = static_cast<size_t>(chunks.integer(3));
            const auto values = decodeFloats(chunks.blob(4), count);
            const auto steps = decodeIntegers(chunks.blob(5), count);
            const auto walls = decodeIntegers(chunks.blob(6), count);
            if (!values || !steps || !walls)
                return fail(ErrorCode::kCorrupt, "read stored samples: damaged");
            StreamRows& axis = byAxis[chunks.integer(2)];
            axis.steps = *steps;
            axis.walls = *walls;
            StreamRows::Column& column = axis.columns[chunks.integer(0)];
            column.values = *values;
            for (uint32_t row = 0; row < count; ++row)
                column.rows.push_back(row);
            firstTaken.try_emplace(chunks.integer(0), chunks.integer(1));
        }
    }
    for (const auto& [axis, axisRows] : byAxis)
        rm::append(rows, axisRows);
    for (const auto& [metric, seq] : firstTaken)
        if (const auto cut = truncateChunks(id, metric, seq); !cut)
            return cut;
    m_database
        .query("DELETE FROM axis WHERE stream = ?1 AND NOT EXISTS "
               "(SELECT 1 FROM chunk WHERE chunk.stream = ?1 AND chunk.axis = axis.seq)")
        .with(id)
        .run();
    return {};
}

Result<void> StreamWriter::truncateChunks(int64_t id, int64_t metric, int64_t chunks) {
    m_database.query("DELETE FROM chunk WHERE stream = ? AND metric = ? AND seq >= ?")
        .with(id, metric, chunks)
        .run();
    m_database
        .query("UPDATE series SET chunks = ?3, chunk_points = (SELECT total(points) FROM chunk "
               "WHERE stream = ?1 AND metric = ?2) WHERE stream = ?1 AND metric = ?2")
        .with(id, metric, chunks)
        .run();
    m_database
        .query("DELETE FROM pyramid WHERE stream = ? AND metric = ? AND level = 3 AND seq >= ?")
        .with(id, metric, chunks)
        .run();
    return truncateLevel(id, metric, 4, chunks);
}

Result<void> StreamWriter::truncateLevel(int64_t id, int64_t metric, int level, int64_t entries) {
    const auto fanOut = static_cast<int64_t>(kFanOut);
    std::optional<std::vector<Summary>> row;
    {
        auto stored = m_database.query("SELECT data FROM pyramid WHERE stream = ? AND metric = ? "
                                       "AND level = ? AND seq = ?");
        if (stored.with(id, metric, level, entries / fanOut).next()) {
            RM_ASSIGN_OR_RETURN(auto summaries, decodeSummaries(stored.blob(0)));
            row = std::move(summaries);
        }
    }
    const int deleted = m_database
                            .query("DELETE FROM pyramid WHERE stream = ? AND metric = ? "
                                   "AND level = ? AND seq >= ?")
                            .with(id, metric, level, entries / fanOut)
                            .run();
    if (row && entries % fanOut > 0) {
        row->resize(std::min(row->size(), static_cast<size_t>(entries % fanOut)));
        const auto bytes = encodeSummaries(*row);
        m_database
            .query("INSERT INTO pyramid (stream, metric, level, seq, data) VALUES (?, ?, ?, ?, ?)")
            .with(id, metric, level, entries / fanOut, std::span(bytes))
            .run();
    }
    if (deleted == 0)
        return {};
    return truncateLevel(id, metric, level + 1, entries / fanOut);
}

} // namespace rm
