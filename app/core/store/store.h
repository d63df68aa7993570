// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/journal/records.h"
#include "shared/result.h"

#include <QString>
#include <QStringList>

#include <climits>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rm {

/// State of a run as the database knows it. Stored: never renumber. Link loss is not a state.
enum class RunStateKind : uint8_t {
    kPreparing = 0, ///< checking, deploying, starting
    kRunning = 1,
    kPaused = 2,
    kFinished = 3,
    kStopped = 4,
    kFailed = 5,
    kPreempted = 6,
};
const char* runStateName(RunStateKind state); ///< "preparing", "running", ...
bool hasEnded(RunStateKind state);            ///< neither preparing nor running

struct RunNode {
    int nodeIndex = 0;
    std::string nodeName;
    int ranks = 1;
    int firstRank = 0;
    bool operator==(const RunNode&) const = default;
};

/// Codes of the events that the app itself stores when a node's link has been down for longer than
/// a moment, and when it is back.
inline constexpr const char* kNodeLostEvent = "node-lost";
inline constexpr const char* kNodeBackEvent = "node-back";
/// That of a command which is not sent any more.
inline constexpr const char* kCommandLapsedEvent = "command-lapsed";

struct LostNode {
    std::string nodeName;
    int64_t sinceNs = 0;
    std::string why; ///< the event's words
    bool operator==(const LostNode&) const = default;
};

struct RunSummary {
    QString id;
    QString name;
    RunStateKind state = RunStateKind::kPreparing;
    int attempt = 1;
    bool held = false;      ///< it runs, and a command holds it at a step
    int64_t step = 0;       ///< last step of rank 0
    int64_t totalSteps = 0; ///< of the spec
    int ranks = 0;
    std::vector<RunNode> nodes;
    std::vector<LostNode> lostNodes; ///< of a run that has not ended, by the last stored event
    int64_t createdNs = 0;
    int64_t updatedNs = 0;
    std::optional<double> loss;           ///< last train/loss of rank 0
    std::optional<double> validationLoss; ///< best
    QString message;                      ///< why it failed
    QString notes;
    QStringList tags;
    QString parentRun; ///< branch of; empty: none
    int64_t parentStep = 0;
    QString parentName;    ///< empty: the parent was deleted
    int64_t deletedNs = 0; ///< when it was moved to the trash; 0: it is not there
    bool operator==(const RunSummary&) const = default;
};

bool wasKilled(const RunSummary& run); ///< it was stopped by a kill
/// The ids of those that have not ended and have that node.
QStringList liveRunsOn(const std::vector<RunSummary>& runs, const std::string& node);
/// An attempt failed, and its agents begin the next one without being asked.
bool isRestarting(const RunSummary& run);
/// A scheduler has yet to start its ranks; `message` says which and why.
bool isQueued(const RunSummary& run);
/// The same, or "held", "killed" or "queued".
const char* runStateName(const RunSummary& run);

struct NewRun {
    QString id;
    QString name;
    std::string specToml;
    std::vector<RunNode> nodes;
    QString parentRun;
    int64_t parentStep = 0;
};

struct SeriesKey {
    std::string metric; ///< name
    int rank = 0;
    bool operator==(const SeriesKey&) const = default;
    auto operator<=>(const SeriesKey&) const = default;
};

struct Point {
    int64_t step = 0;
    int64_t wallNs = 0;
    float value = 0;
    bool operator==(const Point&) const = default;
};

/// One pixel's worth of a series: neighbouring points. NaN values count as gaps; infinite ones are
/// kept.
struct Bucket {
    int64_t firstStep = 0, lastStep = 0;
    int64_t wallNs = 0;                         ///< of the last point
    float min = 0, max = 0, mean = 0, last = 0; ///< of what is not NaN; NaN when nothing is
    int64_t count = 0;                          ///< of what is not NaN
};

struct StoredEvent {
    int64_t id = 0;
    int nodeIndex = 0;
    Event event;
    int attempt = 0;
};

/// Another place of a checkpoint.
struct CheckpointCopy {
    std::string node;
    std::string folder; ///< there
    int64_t wallNs = 0; ///< when it came there and was verified
    bool operator==(const CheckpointCopy&) const = default;
};

struct StoredCheckpoint {
    CheckpointSaved saved; ///< `saved.best`: it was the best when it was saved
    int attempt = 0;
    bool removed = false;
    int retiredBy = 0;      ///< attempt that went on from an earlier step; 0: of the living line
    bool isBest = false;    ///< of those of the living line that are there
    bool isDamaged = false; ///< found by the attempt that retired it
    std::string node = {};  ///< where it was saved: rank 0's node in its attempt
    int64_t verifiedNs = 0; ///< when every byte was last seen to be right; 0: never
    bool isPinned = false;  ///< by a person, so that retention keeps it
    std::vector<CheckpointCopy> copies = {}; ///< by node
};

/// Consecutive steps of one attempt that are on the same line: the living one, or one that was
/// abandoned when a later attempt resumed from an earlier step.
struct StoredLine {
    int attempt = 1;
    int64_t firstStep = 0, lastStep = 0; ///< inclusive, as far as they were reported
    int retiredBy = 0;                   ///< attempt; 0: of the living line
    int64_t retiredAt = 0;               ///< step from which that attempt went on
    bool operator==(const StoredLine&) const = default;
};

/// What resuming from a checkpoint would retire of the living line.
struct Retirement {
    int64_t firstStep = 0, lastStep = -1; ///< inclusive; none when the last is the smaller
    int checkpoints = 0;                  ///< that are there
    bool isEmpty() const { return lastStep < firstStep && checkpoints == 0; }
    bool operator==(const Retirement&) const = default;
};

struct StoredCommand {
    CommandApplied applied;
    int attempt = 0;
};

/// How a command was asked for. Stored and sent: never renumber.
enum class AskedFrom : uint8_t {
    kWindow = 0,
    kTerminal = 1,
    kRule = 2,      ///< a rule of the run's spec
    kElsewhere = 3, ///< a Ringmaster with another database, or one before this was stored
    kRun = 4,       ///< the run's agents, which hold it again after a restart
};

/// Who asked for a command, and how.
struct Asker {
    std::string who; ///< name of the user; empty: not known, or a rule
    AskedFrom from = AskedFrom::kElsewhere;
    bool operator==(const Asker&) const = default;
};

/// What became of a command. Stored: never renumber.
enum class AskedState : uint8_t {
    kWaiting = 0,  ///< no node is known to have it
    kAccepted = 1, ///< the node of rank 0 has it; a kill: some of the run's nodes have done it
    kApplied = 2,
    kRefused = 3,
    kWithdrawn = 4, ///< by a person, before it was accepted
    kLapsed = 5,    ///< too old to be sent, or the attempt ended before
};
const char* askedStateName(AskedState state); ///< "waiting", "accepted", ...
bool isOpen(AskedState state);                ///< waiting or accepted

/// A command that a person or a rule asked for. It is stored before it is sent.
struct AskedCommand {
    std::string id; ///< of the Command
    std::string kind;
    std::vector<std::pair<std::string, std::string>> args = {};
    Asker by = {};
    int64_t askedNs = 0;
    AskedState state = AskedState::kWaiting;
    int64_t acceptedNs = 0;  ///< 0: not known
    int64_t answeredNs = 0;  ///< 0: it is open
    int64_t step = -1;       ///< after which all ranks acted; -1: none
    std::string answer = {}; ///< in words
    bool operator==(const AskedCommand&) const = default;
};

/// What is set otherwise than in the spec from after `step` of `attempt` on. From a node: the keys
/// may be any.
struct StoredSettings {
    int attempt = 0;
    int64_t step = 0;
    std::map<std::string, double, std::less<>> values; ///< see LiveSettings
};

struct StoredSample {
    SampleText sample;
    int attempt = 0;
    int retiredBy = 0; ///< attempt; 0: of the living line
};

/// An attempt that was asked for.
struct NewAttempt {
    int attempt = 1;
    int64_t startStep = 0; ///< -1: unknown
    std::string startFrom; ///< checkpoint folder or empty
    std::vector<RunNode> nodes;
    /// Numbers right before this one that are no attempts of the run, whatever a node says.
    int skipped = 0;
    std::string runtime = {}; ///< "cpu" or the name of PyTorch's runtime on GPUs, "cuda12"
};

struct StoredAttempt {
    int attempt = 1;
    int64_t startStep = 0;
    int64_t startedNs = 0;             ///< when its ranks started; before that, when requested
    bool hasStarted = false;           ///< its ranks said so
    std::optional<AttemptEnded> ended; ///< of the whole run, first failure first
    std::string startFrom;
    /// NewAttempt::runtime; one that agents began has that of the one before.
    std::string runtime = {};
};

struct StoredRank {
    int rank = 0;
    int nodeIndex = 0;
    int64_t pid = 0;
    int64_t step = 0;
    std::optional<RankExited> exited;
};

/// Bytes of one rank's log lines above which the oldest are left out.
inline constexpr int64_t kMostStoredLog = int64_t{64} << 20;

struct LogLine {
    int64_t id = 0;
    int rank = 0;
    int64_t wallNs = 0; ///< when it was ingested
    std::string text;   ///< escapes stripped, at most 4 KiB
};

/// Ranks first to first + count - 1, in attempts firstAttempt to lastAttempt.
struct RankRange {
    int first = 0;
    int count = 0;
    int firstAttempt = 1;
    int lastAttempt = INT_MAX;
    /// `attempt` 0: in any.
    bool hasAttempt(int attempt) const {
        return attempt == 0 || (attempt >= firstAttempt && attempt <= lastAttempt);
    }
    bool has(int rank, int attempt = 0) const {
        return rank >= first && rank - first < count && hasAttempt(attempt);
    }
    bool operator==(const RankRange&) const = default;
};

/// A node that a person declared lost. What lives of the run there goes on by itself until somebody
/// ends it.
struct GivenUpNode {
    QString run;
    std::string node;
    bool operator==(const GivenUpNode&) const = default;
};

/// An attempt that starts at step S retires what earlier attempts made after S: their points and
/// checkpoints stay stored as an abandoned line (see lines()) and are returned only as such, so
/// that the living line has every step of every rank exactly once. An attempt that resumes from a
/// retired checkpoint brings that checkpoint's line back. An attempt counts once its ranks have
/// written AttemptStarted, not when it is requested. Of its own data, samples by the clock before S
/// and all other samples up to S are never returned.
///
/// Nothing here throws; what cannot be read is logged and comes back empty.
///
/// Read side: an own read-only connection each. One thread each.
class StoreReader {
public:
    static Result<std::unique_ptr<StoreReader>> open(const QString& path);
    ~StoreReader();

    /// From now on queries give nothing, and the one that runs ends soon. Thread-safe.
    void interrupt();

    std::vector<RunSummary> runs();  ///< those that are not in the trash, newest first
    std::vector<RunSummary> trash(); ///< what was deleted last first
    std::optional<RunSummary> run(const QString& id);
    /// The whole id, or the name of the newest run called so, or an unambiguous start of an id.
    Result<RunSummary> resolve(const QString& idOrNameOrPrefix);
    /// The same among the runs in the trash, of the one that was deleted last.
    Result<RunSummary> resolveDeleted(const QString& idOrNameOrPrefix);
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
    /// What was asked of the run, newest first, with what its journals say of commands that were
    /// not asked for here.
    std::vector<AskedCommand> askedCommands(const QString& run, int limit = 500);
    /// Those without an answer, in the order in which they were asked for.
    std::vector<AskedCommand> openCommands(const QString& run);
    std::vector<StoredSample> samples(const QString& run); ///< newest first
    /// Where the run was in any attempt: each place with a node that had it, newest attempt first.
    std::vector<RunNode> places(const QString& run);
    /// Where the run was in the newest attempt that all its nodes took part in. RunSummary::nodes
    /// have no ranks where agents went on without a node that was lost.
    std::vector<RunNode> wholePlaces(const QString& run);
    /// Lines with id > afterId (0: the last `limit`, -1: the first); rank -1: all. Of each rank the
    /// last kMostStoredLog bytes are kept, and a first line says what was left out.
    std::vector<LogLine> log(const QString& run, int rank, int64_t afterId, int limit,
                             const QString& contains = {});
    /// File -> offset, per node.
    std::vector<std::pair<std::string, uint64_t>> cursors(const QString& run, int nodeIndex);
    /// Whose files that node may have: its ranks in the attempts that were asked for with it, and
    /// in those that its agents began after one of these.
    /// `name`: of a node that had the index once; empty: of who has it now.
    std::vector<RankRange> rankRanges(const QString& run, int nodeIndex,
                                      const std::string& name = {});
    /// The indices that the node of that name ever had in the run.
    std::vector<int> indicesOf(const QString& run, const std::string& name);
    /// The newest attempt of which anything is stored, by whichever node.
    int newestAttempt(const QString& run);
    /// Nodes on which nothing was ended yet since they were declared lost. Empty id: of all runs.
    std::vector<GivenUpNode> givenUp(const QString& run = {});
    /// Whether a node may have used the next attempts' numbers: it was declared lost, and may have
    /// gone on alone before what lived there was ended.
    bool mustSkipAttempts(const QString& run);

private:
    StoreReader();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// New decoded records and log lines of one node of one run, committed with the cursors in one
/// transaction.
struct IngestBatch {
    QString run;
    int nodeIndex = 0;
    std::string nodeName = {};   ///< who tells it; empty: who has the index now
    std::vector<Record> records; ///< in the order of each file
    /// Of each record the attempt whose file had it; 0, or none at all: the one that its rank or
    /// node began last.
    std::vector<int32_t> attempts = {};
    /// Log bytes: file name and new whole lines.
    std::vector<std::pair<int, std::string>> logLines; ///< rank, line
    std::vector<std::pair<std::string, uint64_t>> cursors;
    /// Where the bytes of this batch began, for the same files. The batch is refused unless these
    /// are the stored cursors (0: none stored). Empty: not checked.
    std::vector<std::pair<std::string, uint64_t>> previous;
};

/// Write side: the only writer and checkpointer of the database. One thread: StoreWriter's user.
class StoreWriter {
public:
    /// Makes or upgrades the file (backup before), takes the lock file; kUnavailable names the
    /// pid of the instance that holds it, kTooNew a schema from a later release.
    static Result<std::unique_ptr<StoreWriter>> open(const QString& path);
    ~StoreWriter();

    /// Notes in the lock file where other processes reach this one.
    Result<void> announce(const std::string& place);
    /// What the last process that opened `path` announced; empty: nothing. That process may be
    /// gone.
    static std::string announced(const QString& path);
    /// Whether a process has `path` open.
    static bool isHeld(const QString& path);

    Result<void> createRun(const NewRun& run);
    Result<void> setState(const QString& run, RunStateKind state, const QString& message = {});
    /// Why its ranks have not been started yet: see isQueued(). Nothing is done once they have.
    Result<void> setQueued(const QString& run, const QString& why);
    /// Stores an attempt when it is requested, before its ranks report it. Open commands were for
    /// the attempt before it, and lapse.
    Result<void> beginAttempt(const QString& run, const NewAttempt& begun);
    /// The node was declared lost, until an attempt begins there or setGivenUpEnded().
    Result<void> setGivenUp(const GivenUpNode& node);
    /// What lived of the run there was ended. The next attempt still leaves out numbers.
    Result<void> setGivenUpEnded(const GivenUpNode& node);
    /// Marks the checkpoint as removed, as its node reported. Does nothing if it is not stored.
    /// `removed` false: it was brought back.
    Result<void> setCheckpointRemoved(const QString& run, const std::string& path,
                                      bool removed = true);
    /// Another place of a stored checkpoint; replaces what was known of that node.
    Result<void> setCheckpointCopy(const QString& run, const std::string& path,
                                   const CheckpointCopy& copy);
    /// The copy is not there any more.
    Result<void> forgetCheckpointCopy(const QString& run, const std::string& path,
                                      const std::string& node);
    Result<void> setCheckpointVerified(const QString& run, const std::string& path, int64_t wallNs);
    Result<void> setCheckpointPinned(const QString& run, const std::string& path, bool pinned);
    /// Stores that it was asked for, unless its id is known. Returns it as it is stored now.
    Result<AskedCommand> addCommand(const QString& run, const AskedCommand& command);
    /// What became of it. Does nothing if it has an answer already, or is not stored.
    Result<void> setCommandState(const QString& run, const std::string& id, AskedState state,
                                 int64_t step = -1, const std::string& answer = {});
    /// The open commands of the run lapse, for this reason.
    Result<void> closeCommands(const QString& run, const std::string& why);
    /// The same for all runs that have ended.
    Result<void> closeCommandsOfEndedRuns();
    Result<void> setNotes(const QString& run, const QString& notes);
    Result<void> setTags(const QString& run, const QStringList& tags);
    /// In its spec as well, so that what is made of that is called so. kInvalid: it is no name of a
    /// run (checkRunName()), or another run that is not in the trash is called so or has that id.
    Result<void> setName(const QString& run, const QString& name);
    Result<void> setDeleted(const QString& run, bool deleted); ///< to the trash, and back
    /// The run's folder on that node is gone: the files of the places that it had last begin anew
    /// when there are some again. The checkpoints in `folder` are removed of the attempts whose
    /// rank 0 was there.
    Result<void> setFolderRemoved(const QString& run, const std::string& node,
                                  const std::string& folder);
    /// The same for the folders of all runs on that node, which were in `stateDir`/runs there.
    Result<void> setRunsRemoved(const std::string& node, const std::string& stateDir);
    /// Deletes for good the runs that were moved to the trash before that time. Returns their
    /// number.
    Result<int> purgeDeleted(int64_t deletedBeforeNs);

    /// All or nothing. Run state follows AttemptStarted / AttemptEnded records. kInternal and
    /// nothing stored when a journal's cursor would go backwards or records come again (their
    /// cursors are stored already).
    Result<void> ingest(const IngestBatch& batch);

    /// Folds the WAL into the file; called when idle and at the end.
    void checkpointWal();

private:
    StoreWriter();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm
