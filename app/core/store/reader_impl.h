// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_lines.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/stream_reader.h"

#include <atomic>
#include <unordered_map>

namespace rm {

/// The implementation of StoreReader. Its methods expect a ReadScope and throw SQLite::Exception.
struct StoreReader::Impl {
    explicit Impl(const std::string& path);

    /// Runs `body` on one state of the database; what SQLite throws is logged and gives `T{}`.
    template <class Body>
    auto read(const char* what, Body&& body) -> decltype(body()) {
        if (isInterrupted)
            return {};
        try {
            const ReadScope scope(database);
            return body();
        } catch (const SQLite::Exception& exception) {
            if (!isInterrupted)
                warn(errorOf(what, database.connection().getFilename(), exception));
            return {};
        }
    }
    void warn(const Error& error);

    std::optional<int64_t> runId(const QString& run);
    RunLines lines(int64_t run);
    /// The living parts of a series, in order: one per attempt that has any of it.
    std::vector<StreamRange> ranges(int64_t run, const SeriesKey& key, int64_t firstStep,
                                    int64_t lastStep);
    /// What one attempt has of a series between two steps, living or not.
    std::vector<StreamRange> rangesOf(int64_t run, int attempt, const SeriesKey& key,
                                      int64_t firstStep, int64_t lastStep);
    std::optional<Point> lastPoint(const std::vector<StreamRange>& ranges);
    std::vector<Bucket> buckets(const std::vector<StreamRange>& ranges, int maxBuckets);
    std::optional<RunSummary> summary(int64_t run);
    std::unordered_map<int64_t, int> queuePlaces();
    std::vector<RunSummary> summaries(const char* query); ///< a literal whose rows are runs' ids

    ReadConnection database;
    StreamReader streams;
    std::atomic<bool> isInterrupted = false;
    std::optional<Error> failure; ///< the first

private:
    std::optional<RunSummary> storedSummary(int64_t run); ///< all but its place in the queue
    RunSummary summaryOf(int64_t run, Query& row);
    std::vector<RunNode> nodes(int64_t run);
    bool isHeld(int64_t run, int attempt);
    std::vector<std::string> unreadNodes(int64_t run, const RunSummary& summary);
    std::vector<LostNode> lostNodes(int64_t run, const std::vector<RunNode>& nodes);

    struct Known {
        int64_t revision;
        RunSummary summary;
    };
    std::unordered_map<int64_t, Known> m_known; ///< by run; valid while its revision is unchanged
};

} // namespace rm
