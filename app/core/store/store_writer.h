// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/attempts.h"
#include "app/core/store/queue.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"
#include "shared/journal/records.h"
#include "shared/result.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// A whole line of a rank's log.
struct NewLogLine {
    int rank = 0;
    std::string text = {};
    int64_t wallNs = 0; ///< when it was written, by its node's clock; 0: not known
};

/// New decoded records and log lines of one node of one run, committed with the cursors in one
/// transaction.
struct IngestBatch {
    QString run;
    int nodeIndex = 0;
    std::string nodeName = {};   ///< the node that tells it; empty: the one that has the index now
    std::vector<Record> records; ///< in the order of each file
    /// For each record the attempt whose file had it; 0, or no entry: the one that its rank or
    /// node began last.
    std::vector<int32_t> attempts = {};
    std::vector<NewLogLine> logLines = {};
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

    /// Stores a run that is about to be started; kInvalid: it exists. Of one that waits the nodes
    /// are those of `run` from now on, and all else stays as it was stored; it leaves the queue
    /// when its attempt begins.
    Result<void> createRun(const NewRun& run);
    /// Puts new runs at the end of the queue, all or none, and stores the sweep that they are of.
    /// NewRun::nodes are those that they may train on. kInvalid: one of them exists already.
    Result<void> enqueue(const std::vector<NewRun>& runs, const QueuedPlace& place,
                         const std::optional<StoredSweep>& sweep = {});
    /// Puts a run that has ended at the end of the queue, to go on. Again: it is at the end now.
    Result<void> enqueueAgain(const QString& run, const QueuedPlace& place);
    /// Takes the run out of the queue. One that was never started gets that state and message;
    /// any other stays as it is. Does nothing if it does not wait.
    Result<void> dequeue(const QString& run, RunStateKind as, const QString& message);
    /// `place` counts from 0; beyond the last it is the last. kNotFound: the run does not wait.
    Result<void> moveInQueue(const QString& run, int place);
    /// A launch of the queue failed for `why` and left nothing on any node: the run waits again, in
    /// front of those of `behind` that wait. Does nothing where it is live, as its ranks may be.
    Result<void> requeue(const QueueEntry& entry, const std::vector<QString>& behind,
                         const std::string& why);
    /// The runs whose launch by the queue ended with the process that made it, before any attempt
    /// began, wait again in their places. Before anything is launched here.
    Result<void> requeueInterrupted();
    /// All or none. Runs that are not paused, or have such a verdict already, stay as they are.
    Result<void> applyVerdicts(const std::vector<SweepVerdict>& verdicts);
    Result<void> setState(const QString& run, RunStateKind state, const QString& message = {},
                          bool isPresumed = false);
    /// Ends a run of which a node tells no end: as the others told it (presumedEnd()), otherwise as
    /// failed for that reason. See RunSummary::isPresumed.
    Result<void> presumeEnd(const QString& run, const std::string& why);
    /// Why its ranks have not been started yet: see isQueued(). Nothing is done once they have.
    Result<void> setQueued(const QString& run, const QString& why);
    /// Stores an attempt when it is requested, before its ranks report it. Open commands were for
    /// the attempt before it, and lapse.
    Result<void> beginAttempt(const QString& run, const NewAttempt& begun);
    /// The node was declared lost, until an attempt begins there or setDeclaredLostEnded().
    Result<void> setDeclaredLost(const DeclaredLostNode& node);
    /// What lived of the run there was ended. The next attempt still leaves out numbers.
    Result<void> setDeclaredLostEnded(const DeclaredLostNode& node);
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
    Result<RequestedCommand> addCommand(const QString& run, const RequestedCommand& command);
    /// What became of it. Does nothing if it has an answer already, or is not stored.
    Result<void> setCommandState(const QString& run, const std::string& id, RequestedState state,
                                 int64_t step = -1, const std::string& answer = {});
    /// The open commands of the run lapse, for this reason.
    Result<void> closeCommands(const QString& run, const std::string& why);
    /// The same for all runs that have ended.
    Result<void> closeCommandsOfEndedRuns();
    Result<void> setNotes(const QString& run, const QString& notes);
    Result<void> setTags(const QString& run, const QStringList& tags);
    Result<void> setStarred(const QString& run, bool starred);
    Result<void> setArchived(const QString& run, bool archived);
    /// Changes it in the spec as well, so that what is made of that has it. kInvalid: it is no
    /// name (checkRunName()), or another run that is not in the trash is called so or has that id.
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

    /// Puts some lines of logs that are not in the index of words yet into it (SCHEMA.md). False:
    /// all are there. Called when idle.
    Result<bool> fillLogSearch();
    /// Folds the WAL into the file; called when idle and at the end.
    void checkpointWal();

private:
    StoreWriter();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm
