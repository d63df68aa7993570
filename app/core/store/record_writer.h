// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/attempts.h"
#include "app/core/store/rank_ranges.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stream_writer.h"
#include "app/core/store/trace_rows.h"
#include "shared/journal/records.h"

#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace rm {

/// What the writer remembers of runs between batches. Emptied after a rollback.
struct WriterMemory {
    struct Metric {
        int64_t id = 0;
        MetricClock clock = MetricClock::kStep;
    };
    std::map<std::pair<int64_t, MetricId>, Metric> metrics;      ///< by run, id in the journal
    std::map<std::pair<int64_t, int32_t>, int32_t> rankAttempts; ///< by run, rank
    std::map<std::pair<int64_t, int>, int32_t> nodeAttempts;     ///< by run, node
    std::map<std::tuple<int64_t, int32_t, bool, int32_t>, int64_t> streams;
    std::map<std::pair<int64_t, int>, int64_t> logBytes; ///< by run, rank
};

/// Applies the records of one batch, in order, inside the caller's transaction. Throws
/// SQLite::Exception.
class RecordWriter {
public:
    RecordWriter(Database& database, StreamWriter& streams, WriterMemory& memory, int64_t run,
                 int node, std::string nodeName);

    /// `attempt` as in IngestBatch.
    void apply(const Record& record, int32_t attempt);
    /// Whether the rank runs, or ran, on this node in that attempt; 0: in any.
    bool owns(int32_t rank, int32_t attempt = 0);
    std::optional<int> nodeOf(int32_t rank);
    /// Stores what was gathered; makes the run's state follow its attempt. Once, at the end.
    Result<void> finish();

private:
    void on(const AttemptStarted& record);
    void on(const MetricRegistered& record);
    void on(const Samples& record);
    void on(const Event& record);
    void on(const CommandApplied& record);
    void on(const CheckpointSaved& record);
    void on(const CheckpointRemoved& record);
    void on(const CheckpointCopied& record);
    void on(const SettingsChanged& record);
    void on(const StepsPlanned& record);
    void on(const SampleText& record);
    void on(const ConfusionMatrix& record);
    void on(const TraceRecorded& record);
    void on(const RankStarted& record);
    void on(const RankExited& record);
    void on(const AttemptEnded& record);
    void on(const AttemptPlanned& record);

    const std::vector<RankRange>& ranks();
    bool tookPart(int32_t attempt);
    void refuse(const std::string& why);
    bool isAttempt(int32_t attempt);
    bool isRank(int32_t rank);
    bool isOfRankZero();
    bool isStep(int64_t step);
    void noteAttempt(int32_t attempt, const std::string& message);
    int32_t runAttempt();
    int32_t attemptOfRank(int32_t rank);
    int32_t attemptOfNode();
    WriterMemory::Metric metric(MetricId id);
    bool hasRoomFor(const std::string& metric);
    WriterMemory::Metric storeMetric(const MetricDef& def);
    int64_t streamOf(int32_t rank, MetricClock clock);
    void addSamples(const Samples& record);
    void storeRankSteps();
    Result<void> storeStreams();
    Result<void> closeStreams();
    void followAttempt();
    void setState(RunStateKind state, const std::string& message);
    void correct(RunStateKind presumed, RunStateKind state);

    Database& m_database;
    StreamWriter& m_streams;
    WriterMemory& m_memory;
    int64_t m_run;
    int m_node;
    std::string m_nodeName;                        ///< as in IngestBatch
    int32_t m_fileAttempt = 0;                     ///< of the record that is applied; 0: not known
    std::optional<std::vector<RankRange>> m_ranks; ///< of this node, once asked for
    std::map<int64_t, StreamRows> m_rows;          ///< by stream
    std::map<std::pair<int32_t, int32_t>, int64_t> m_rankSteps; ///< by attempt, rank
    TraceRows m_traces;
    std::vector<int32_t> m_endedAttempts;
    std::optional<AttemptEnded> m_endBefore; ///< of the newest attempt, before these records
    bool m_lifecycleChanged = false;
    bool m_rankZeroStarted = false;
    int m_refused = 0;
    std::string m_whyRefused; ///< of the first
};

} // namespace rm
