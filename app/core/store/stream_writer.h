// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/database.h"
#include "app/core/store/pyramid.h"
#include "app/core/store/stream_rows.h"

#include <set>
#include <unordered_map>

namespace rm {

/// Stores the samples of streams: a tail of small rows first, folded into compressed chunks with
/// pyramids as it grows. Works inside the caller's transaction; throws SQLite::Exception.
class StreamWriter {
public:
    static constexpr size_t kChunkPoints = 4096;   ///< at most
    static constexpr size_t kMinChunkPoints = 256; ///< of a metric that is in few rows only
    static constexpr int kSmallRows = 32;          ///< then they become one larger row

    explicit StreamWriter(Database& database)
        : m_database(database) {}

    Result<void> append(int64_t stream, StreamRows rows);
    /// Folds the whole tail, however short, as no more samples are expected.
    Result<void> close(int64_t stream);

    /// Call it after a rollback, when the cached state of the streams may be wrong.
    void forget() { m_streams.clear(); }

private:
    enum Tier { kSmall = 0, kLarge = 1, kCarried = 2 }; // stored: never renumber

    struct Stream {
        int64_t nextSeq = 0;
        int smallRows = 0;
        int64_t tailPoints = 0; ///< without those carried
        int64_t lastStep = INT64_MIN;
        std::set<int64_t> metrics;
    };

    Stream& stream(int64_t id);
    void noteMetrics(int64_t id, Stream& stream, const StreamRows& rows);
    void insertTail(int64_t id, Stream& stream, Tier tier, const StreamRows& rows);
    Result<StreamRows> takeTail(int64_t id, Stream& stream, Tier highest);
    Result<void> mergeSmallRows(int64_t id, Stream& stream);
    Result<void> compact(int64_t id, Stream& stream, bool all);
    Result<void> appendOutOfOrder(int64_t id, Stream& stream, StreamRows rows);

    Result<void> storeChunks(int64_t id, const StreamRows& rows,
                             const std::vector<int64_t>& metrics, size_t count);
    int64_t storeAxis(int64_t id, std::span<const Point> points);
    Result<void> storeChunk(int64_t id, int64_t metric, int64_t axis,
                            std::span<const Point> points);
    Result<void> addToLevel(int64_t id, int64_t metric, int level, int64_t index,
                            const Summary& summary);

    Result<void> takeChunksBehind(int64_t id, int64_t step, StreamRows& rows);
    Result<void> truncateChunks(int64_t id, int64_t metric, int64_t chunks);
    Result<void> truncateLevel(int64_t id, int64_t metric, int level, int64_t entries);

    Database& m_database;
    std::unordered_map<int64_t, Stream> m_streams;
};

} // namespace rm
