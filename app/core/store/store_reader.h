// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/attempts.h"
#include "app/core/store/log_choice.h"
#include "app/core/store/queue.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/series.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/core/store/stored_trace.h"
#include "shared/result.h"

#include <QString>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// An attempt that starts at step S retires what earlier attempts made after S: their points and
/// checkpoints stay stored as an abandoned line (see lines()) and are returned only as such, so
/// that the living line has every step of every rank exactly once. An attempt that resumes from a
/// retired checkpoint brings that checkpoint's line back. An attempt counts once its ranks have
/// written AttemptStarted, not when it is requested. Of its own data, samples by the clock before S
/// and all other samples up to S are never returned.
///
/// Nothing here throws; what cannot be read comes back empty, is logged and noted as a
/// readFailure().
///
/// Read side: an own read-only connection each. One thread each.
class StoreReader {
public:
    static Result<std::unique_ptr<StoreReader>> open(const QString& path);
    ~StoreReader();

    /// The first query here that failed, so that its answer is none.
    std::optional<Error> failure() const;

    /// From now on queries give nothing, and the one that runs ends soon. Thread-safe.
    void interrupt();

    std::vector<RunSummary> runs();     ///< those that are not in the trash, newest first
    std::vector<RunSummary> liveRuns(); ///< those of runs() that isLive()
    /// The runs, also in the trash, of the sweeps that halve and of which one may go on.
    std::vector<RunSummary> runsOfHalvingSweeps();
    std::vector<RunSummary> trash(); ///< what was deleted last first
    std::optional<RunSummary> run(const QString& id);
    /// The whole id, or the name of the newest run called so, or an unambiguous start of an id.
    Result<RunSummary> resolve(const QString& idOrNameOrPrefix);
    /// The same among the runs in the trash, of the one that was deleted last.
    Result<RunSummary> resolveDeleted(const QString& idOrNameOrPrefix);
    /// The runs that wait for free nodes, in their order.
    std::vector<QueueEntry> queue();
    std::optional<StoredSweep> sweep(const QString& id);
    std::string specToml(const QString& run);
    std::vector<StoredSettings> settings(const QString& run); ///< by attempt and step

    std::vector<SeriesKey> series(const QString& run);
    /// The metrics that the run has reported so far, by name. Ringmaster's own are described as
    /// this release knows them, the run's own as it registered them.
    std::vector<MetricDef> metrics(const QString& run);
    /// Points with firstStep <= step <= lastStep, by step.
    std::vector<Point> points(const QString& run, const SeriesKey& key, int64_t firstStep = 0,
                              int64_t lastStep = INT64_MAX);
    /// At most maxBuckets of them over the range; cost O(maxBuckets), not of the points.
    std::vector<Bucket> buckets(const QString& run, const SeriesKey& key, int64_t firstStep,
                                int64_t lastStep, int maxBuckets);
    std::optional<Point> lastPoint(const QString& run, const SeriesKey& key);
    /// points() in pieces, so that memory does not grow with the length. False: not all could be
    /// read.
    bool visitPoints(const QString& run, const SeriesKey& key, int64_t firstStep, int64_t lastStep,
                     const std::function<void(std::span<const Point>)>& visitor);

    /// What each attempt made and which line it is of, by attempt and step.
    std::vector<StoredLine> lines(const QString& run);
    Retirement retirementBy(const QString& run, const StoredCheckpoint& checkpoint);
    /// points() and buckets() restricted to one line.
    std::vector<Point> points(const QString& run, const StoredLine& line, const SeriesKey& key);
    std::vector<Bucket> buckets(const QString& run, const StoredLine& line, const SeriesKey& key,
                                int64_t firstStep, int64_t lastStep, int maxBuckets);

    /// While it lives, every method sees the database as it was when this was made. Keep it short,
    /// as the write-ahead log grows meanwhile. Must be destroyed before the reader.
    [[nodiscard]] std::shared_ptr<void> snapshot();

    std::vector<StoredAttempt> attempts(const QString& run);
    std::vector<StoredRank> ranks(const QString& run);
    std::vector<StoredEvent> events(const QString& run, int limit = 500); ///< newest first
    std::vector<StoredCheckpoint> checkpoints(const QString& run);        ///< by step, newest first
    std::vector<StoredCommand> commands(const QString& run);              ///< oldest first
    /// The commands asked of the run, newest first, with what its journals say of commands that
    /// were not asked for here.
    std::vector<RequestedCommand> requestedCommands(const QString& run, int limit = 500);
    /// The commands without an answer, in the order in which they were asked for.
    std::vector<RequestedCommand> openCommands(const QString& run);
    /// Newest first, without the bytes of pictures.
    std::vector<StoredSample> samples(const QString& run);
    /// Those of one validation, in their order, with the bytes of pictures.
    std::vector<SampleText> samplesAt(const QString& run, int attempt, int64_t step);
    std::vector<StoredConfusion> confusions(const QString& run); ///< newest first
    std::vector<StoredTrace> traces(const QString& run);         ///< newest first
    /// What each rank did, by rank; empty: there is no such trace.
    std::vector<RankTrace> trace(const QString& run, const TraceId& id);
    /// Where the run was in any attempt: each place with a node that had it, newest attempt first.
    std::vector<RunNode> places(const QString& run);
    /// Where the run was in each attempt that was asked for, or that its agents told of.
    std::map<int, std::vector<RunNode>> placesByAttempt(const QString& run);
    /// Where the run was in the newest attempt that all its nodes took part in. RunSummary::nodes
    /// have no ranks where agents went on without a node that was lost.
    std::vector<RunNode> wholePlaces(const QString& run);
    /// Lines with id > afterId (0: the last `limit`, -1: the first) as they were stored; rank -1:
    /// all. Of each rank the last kMostStoredLog bytes are kept, and a first line says what was
    /// left out.
    std::vector<LogLine> log(const QString& run, int rank, int64_t afterId, int limit,
                             const QString& contains = {});
    /// The last lines by time. Of a search with more answers than `limit` those that were stored
    /// last.
    LogPage logTail(const QString& run, const LogChoice& choice, int limit);
    /// The first lines of that time or later; of that time only those of a later id.
    LogPage logFrom(const QString& run, const LogChoice& choice, int64_t wallNs, int64_t afterId,
                    int limit);
    /// The last lines before that time, and of that time those of an earlier id.
    LogPage logBefore(const QString& run, const LogChoice& choice, int64_t wallNs, int64_t beforeId,
                      int limit);
    /// The first lines that were stored behind that id.
    LogPage logAfter(const QString& run, const LogChoice& choice, int64_t afterId, int limit);
    /// All lines, by time. False: not all could be read, or `visitor` wants no more.
    bool visitLog(const QString& run, const LogChoice& choice,
                  const std::function<bool(const LogLine&)>& visitor);
    /// File -> offset, per node.
    std::vector<std::pair<std::string, uint64_t>> cursors(const QString& run, int nodeIndex);
    /// The ranks whose files that node may have: its ranks in attempts that were asked for with
    /// it, and in those that its agents began after one of these.
    /// `name`: a node that had the index once; empty: the node that has it now.
    std::vector<RankRange> rankRanges(const QString& run, int nodeIndex,
                                      const std::string& name = {});
    /// The indices that the node of that name ever had in the run.
    std::vector<int> indicesOf(const QString& run, const std::string& name);
    /// The newest attempt of which anything is stored, by whichever node.
    int newestAttempt(const QString& run);
    /// Nodes on which nothing was ended yet since they were declared lost. Empty id: of all runs.
    std::vector<DeclaredLostNode> declaredLost(const QString& run = {});
    /// Whether a node may have used the next attempts' numbers: it was declared lost, and may have
    /// gone on alone before what lived there was ended.
    bool mustSkipAttempts(const QString& run);

private:
    StoreReader();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm
