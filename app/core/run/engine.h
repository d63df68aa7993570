// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/node_cleaning.h"
#include "app/core/agent/run_folder.h"
#include "app/core/fleet/fleet.h"
#include "app/core/launch/node_outlook.h"
#include "app/core/launch/plan.h"
#include "app/core/launch/progress.h"
#include "app/core/launch/trial.h"
#include "app/core/run/checkpoint_orders.h"
#include "app/core/store/store.h"
#include "shared/checkpoint/compare.h"
#include "shared/spec/run_spec.h"
#include "shared/wire/messages.h"

#include <QFuture>
#include <QObject>
#include <QString>
#include <QStringList>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// What becomes of a launch for which a node seems to have too little memory.
enum class IfTooLarge { kRefuse, kLaunch };

/// What becomes of a run that lives on a node and is of another Ringmaster.
enum class OtherRuns { kRefuse, kEnd };

/// Where a run is, as launch() is asked for it. To go on, it is asked for
/// StoreReader::wholePlaces().
std::vector<Placement> placementsOf(const std::vector<RunNode>& nodes);

/// The live side of a run: what the links say right now. Never stored.
struct LiveState {
    enum class Link {
        kNone,
        kConnecting,
        kLive,
        kLost,    ///< being retried
        kRefused, ///< login refused: retried once a check of the node succeeds
        /// It answers, but what it sends cannot be stored on this computer, whose disk is full:
        /// being retried.
        kUnstored,
    };
    struct NodeLink {
        std::string node;
        Link link = Link::kNone;
        QString why;             ///< kLost, kRefused, kUnstored: the error in words
        int64_t lostSinceNs = 0; ///< kLost, kRefused
        std::optional<RunState> state;
        int64_t heardNs = 0; ///< when it was last heard from; 0: never
    };
    std::vector<NodeLink> nodes;
    /// Command in flight: "pausing, 3 of 4 ranks" is made of it and the ranks' phases. While
    /// `launching`: kStop once the launch is cancelled.
    std::optional<CommandKind> pending;
    int64_t pendingSinceNs = 0; ///< CLOCK_MONOTONIC
    bool held = false;
    /// How far its launch is; set while this process launches it and its ranks do not train yet.
    std::optional<Progress> launching;
};

/// Nothing is heard of a node with such a link.
inline bool isDown(LiveState::Link link) {
    return link == LiveState::Link::kLost || link == LiveState::Link::kRefused;
}

/// The run is already in the state that the command leads to, such as a pause of a paused run.
bool isAlready(CommandKind kind, RunStateKind state);

/// How long a command is kept for a node that cannot be reached: an older one is not sent any more,
/// as a person who has forgotten it must not be surprised. A kill that was done on a node of the
/// run already is sent to the others whenever they can be reached.
inline constexpr int64_t kCommandKeptNs = 3600 * int64_t{1'000'000'000};

/// How long a run stays in the trash.
inline constexpr int kTrashDays = 30;

/// Since when an unreachable node has not been heard from.
int64_t unreachableSinceNs(const LiveState::NodeLink& link);

/// Of a script that is shown before its run is launched.
inline constexpr const char* kRunIdInScript = "RUN_ID";

/// The one engine behind the window and the terminal. Lives on the thread that made it (the GUI
/// thread); its calls do not block, and every answer comes back there.
///
/// Closing it does not affect the runs: they continue on their nodes, and a later engine attaches
/// to them again. A launch in progress is cancelled, as far as its nodes answer in a moment; the
/// next engine finds what is left of it. Closing takes about two seconds whatever the nodes do.
class Engine : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// What progressed() calls measureNetwork(); no id of a run.
    static constexpr const char* kNetwork = "measurement: network";

    virtual QString databasePath() const = 0;

    /// Checks, deploys, plans, starts, attaches. The answer is the new run's id: `id`, or a
    /// generated one when that is empty (see newRunId()). If a node has too little memory by its
    /// trainer's estimate, tooLarge() is emitted and the answer is kExhausted; nothing was started.
    /// A later failure marks the listed run as failed with the message and leaves nothing running.
    /// With checkpoint.on_existing = "resume" the answer may be the id of an earlier run of that
    /// name (see findEarlierRun()), of which the next attempt was begun, by this launch or, while
    /// it looked, by the run's own agents; an event of the run (kEarlierRunEvent) says what it was.
    /// Until the answer command(), live() and the signals take `id` for that run.
    virtual QFuture<Result<QString>> launch(const CheckedSpec& spec,
                                            const std::vector<Placement>& nodes,
                                            const QString& id = {},
                                            IfTooLarge ifTooLarge = IfTooLarge::kRefuse) = 0;
    /// Next attempt from a checkpoint: the newest one of the living line, or `checkpoint`, a step
    /// or the name of a folder (see findCheckpoint()). kCorrupt: that one is damaged. If the newest
    /// is, the attempt starts from the newest whole one before it and says so by an event
    /// (kCheckpointDamagedEvent). What it retires stays as an abandoned line; see
    /// StoreReader::retirementBy(). `nodes` empty: on those of the last attempt. The checkpoint is
    /// copied to the first of them if it does not lie there, from where it was saved or from a copy
    /// of it. kUnavailable: none of these can be reached. Where all have answered that they do not
    /// have the newest any more, the newest before it that is somewhere is taken, and an event
    /// says so (checkpoint-gone); of one that was named that is kNotFound. It is stored as a
    /// command, with `by` (as command()'s), unless it is refused at once.
    virtual QFuture<Result<QString>> resume(const QString& run, const QString& checkpoint = {},
                                            const std::vector<Placement>& nodes = {},
                                            const Asker& by = {}) = 0;
    /// What resume() with the same arguments would do.
    virtual QFuture<Result<ResumeOutlook>> resumeOutlook(const QString& run,
                                                         const QString& checkpoint,
                                                         const std::vector<Placement>& nodes) = 0;
    /// Copies a checkpoint (as resume()'s) to another place, through this program: its folder
    /// there, where every byte of it is verified. progressed() tells how far it is.
    virtual QFuture<Result<QString>> copyCheckpoint(const QString& run, const QString& checkpoint,
                                                    const CopyOrder& order) = 0;
    /// Gives up a node of a live run that nothing is heard of: its part counts as failed, the ranks
    /// elsewhere, which cannot go on without it, are killed, and the run ends. kInvalid: the run
    /// has ended, has no such node, or the node answers. It is stored as a command, with `by` (as
    /// command()'s), unless it is refused.
    virtual QFuture<Result<void>> declareLost(const QString& run, const QString& node,
                                              const Asker& by = {}) = 0;
    /// Launches a new run, with its own checkpoints, from that checkpoint of `run`. `spec` null:
    /// see specOfBranch(). `nodes` and how the checkpoint comes to them as in resume(); so is what
    /// happens where the newest (`checkpoint` empty) is damaged or gone. Otherwise as launch().
    virtual QFuture<Result<QString>> branch(const QString& run, const QString& checkpoint,
                                            std::optional<CheckedSpec> spec = {},
                                            const QString& id = {},
                                            IfTooLarge ifTooLarge = IfTooLarge::kRefuse,
                                            const std::vector<Placement>& nodes = {}) = 0;
    /// Whether retention keeps a checkpoint whatever the spec's rules say.
    virtual QFuture<Result<void>> setPinned(const QString& run, const QString& checkpoint,
                                            bool pinned) = 0;
    /// How far the weights of two checkpoints of a run are apart, by layer. Asked of a node that
    /// has both; kUnavailable: there is none.
    virtual QFuture<Result<TensorComparison>>
    compareCheckpoints(const QString& run, const QString& a, const QString& b) = 0;
    /// Removes a checkpoint of an abandoned line from its node, also while the run goes on. For
    /// kAsideDays it can be brought back. kInvalid: it is pinned, or of the living line. Once done
    /// it is stored as a command (kRemoveCheckpoint), with `by` as command()'s.
    virtual QFuture<Result<void>> removeCheckpoint(const QString& run, const QString& checkpoint,
                                                   const Asker& by = {}) = 0;
    /// Undoes removeCheckpoint(), and is stored likewise. kNotFound: too late.
    virtual QFuture<Result<void>> bringBackCheckpoint(const QString& run, const QString& checkpoint,
                                                      const Asker& by = {}) = 0;
    /// Compares every byte of a checkpoint with its manifest, where it was saved and in each copy.
    /// The error names each place; kCorrupt: one is damaged, or not there any more.
    virtual QFuture<Result<void>> verifyCheckpoint(const QString& run,
                                                   const QString& checkpoint) = 0;
    /// What the run has on its nodes (see RunFolder): what removeFromNodes() would delete.
    virtual QFuture<Result<std::vector<RunFolder>>> onNodes(const QString& run) = 0;
    /// Deletes the run's folder on each of its nodes, with the checkpoints in it; what is stored of
    /// the run stays. kInvalid: it has not ended. Stored as removeCheckpoint() is.
    virtual QFuture<Result<void>> removeFromNodes(const QString& run, const Asker& by = {}) = 0;
    /// What was deployed to a node (trainers, agents, staged data) and whether a run or process
    /// there needs it; what nothing needs is removed, unless that is a preview. kInvalid: ranks are
    /// being started, and what is young is asked for as well. kUnavailable: all is being removed
    /// from it at the moment.
    virtual QFuture<Result<DeployedReport>> cleanNode(const QString& node,
                                                      const NodeCleaning& cleaning) = 0;
    /// Measures which interfaces of these nodes (none: measuredNodes() of all) reach which of the
    /// others, and keeps what was found: see keptNetwork(). Nodes that cannot be reached are told
    /// there. Takes some seconds; progressed() tells its stages. kUnavailable: it is being measured
    /// already, or stopNetwork() was called.
    virtual QFuture<Result<void>> measureNetwork(const QStringList& nodes) = 0;
    /// Ends the measurement that is under way, if there is one, soon.
    virtual QFuture<Result<void>> stopNetwork() = 0;
    /// Ends what lives of these runs on a node, as the row "leftovers" of its check found them, and
    /// nothing else there. kInvalid: one of them is stored as live, and is stopped or killed as a
    /// run, or lives and is not stored here, and that is to be refused: somebody else's run is
    /// ended only after a person was asked. Then none is ended.
    virtual QFuture<Result<void>> endLeftovers(const QString& node, const QStringList& runs,
                                               OtherRuns others = OtherRuns::kRefuse) = 0;
    /// Lets the trainer find something out on nodes, without a run (see runTrial()): the JSON of
    /// the answer. An all-reduce test is kept, too (link_test.h). progressed() tells how far it is.
    virtual QFuture<Result<QString>> tryOut(const NodeTrial& trial) = 0;
    /// Ends such trials that are under way soon: their answer is kUnavailable.
    virtual QFuture<Result<void>> stopTrial(const NodeTrial& trial) = 0;
    /// The answer is kApplied or kRefused; it waits while rank 0's node cannot be reached, that of
    /// kKill for the nodes that can be: it names the others. kExhausted: a node's disk is too full
    /// for what writes a checkpoint (whyNoCheckpoint()), and nothing was sent. kStop and kKill of a
    /// run whose ranks have not started cancel its launch: a new run is then stopped, a resumed run
    /// stays as it was. If isAlready(), the answer is kApplied at step -1. A command with the same
    /// `id` takes effect once; empty: an id is generated. It is stored before it is sent (a kill:
    /// meanwhile), as asked for by `by` (nobody: the user of this process), and one without an
    /// answer is sent by the next engine that follows the run, too, for up to kCommandKeptNs.
    virtual QFuture<Result<CommandState>>
    command(const QString& run, CommandKind kind,
            std::vector<std::pair<std::string, std::string>> args = {}, const std::string& id = {},
            const Asker& by = {}) = 0;
    /// Takes back a command that no node has accepted; whoever waits for it gets kUnavailable. The
    /// answer says what is left to know of it, such as that a node may have got it. kInvalid: it is
    /// on its way or was accepted.
    virtual QFuture<Result<QString>> withdraw(const QString& run, const std::string& command) = 0;

    /// Attaches to every node of the run and follows it until it ends. Idempotent. Does nothing
    /// while the ranks are being started; the launch attaches at its end.
    virtual void attach(const QString& run) = 0;
    /// attach() for every run that has not ended.
    virtual void attachAll() = 0;
    virtual LiveState live(const QString& run) const = 0;
    /// Runs whose launch this process has asked for and that is under way: it is cancelled when the
    /// process ends.
    virtual QStringList ownLaunches() const { return {}; }

    // Edits by a person: queued for the writer, then runsChanged(). An error that is returned means
    // that this engine cannot store anything; a later one is reported by failed().
    virtual Result<void> setNotes(const QString& run, const QString& notes) = 0;
    virtual Result<void> setTags(const QString& run, const QStringList& tags) = 0;

    /// See StoreWriter::setName().
    virtual QFuture<Result<void>> rename(const QString& run, const QString& name) = 0;
    /// To the trash, and back. kInvalid: it has not ended. What is in the trash for kTrashDays is
    /// forgotten by the next engine that can write.
    virtual QFuture<Result<void>> setDeleted(const QString& run, bool deleted) = 0;
    /// Forgets for good what was moved to the trash before that moment; what it has on its nodes
    /// stays there.
    virtual QFuture<Result<void>> emptyTrash(int64_t deletedBeforeNs) = 0;

    /// Connects to the node to find out what launch() would find there; nothing is started.
    virtual QFuture<Result<NodeOutlook>> outlook(const RunSpec& spec, const QString& node) = 0;
    /// What the nodes of a launch say of it together (launchRows()); nothing is started.
    virtual QFuture<Result<std::vector<CheckRow>>>
    checkLaunch(const RunSpec& spec, const std::vector<Placement>& nodes) = 0;
    /// The script that launch() would hand to the batch system of the nodes (Slurm's sbatch), with
    /// kRunIdInScript in the place of the run's id; nothing is started. kInvalid: they have none.
    /// What launch() would find missing is an error here, too.
    virtual QFuture<Result<QString>> batchScript(const CheckedSpec& spec,
                                                 const std::vector<Placement>& nodes) = 0;

Q_SIGNALS:
    void runsChanged();                       ///< a run appeared, or its summary changed
    void samplesAppended(const QString& run); ///< carries no data: query a StoreReader
    void liveChanged(const QString& run);
    /// `run`: or a trial, as trialId() calls it, or kNetwork.
    void progressed(const QString& run, const rm::Progress& progress);
    void attemptEnded(const QString& run);
    /// Why a launch is about to be refused: what memory is needed, what is free and what to do. The
    /// caller can launch it all the same with IfTooLarge.
    void tooLarge(const QString& run, const QString& why);
    /// A node of a followed run refused the login; a person has to enter or decide something.
    /// Emitted once per refused login. Following continues after a successful Fleet::check() of the
    /// node.
    void loginRefused(const QString& node);
    /// Following ended although the attempt did not (the run is unknown there, ...), or a queued
    /// edit failed. `message` is for people.
    void failed(const QString& run, const QString& message);
};

} // namespace rm
