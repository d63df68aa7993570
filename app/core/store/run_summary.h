// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// State of a run as the database knows it. Stored: never renumber. Link loss is not a state.
/// Unlike RunState, which one node's agent sends, it is of the run as a whole, and one word.
enum class RunStateKind : uint8_t {
    kPreparing = 0, ///< checking, deploying, starting
    kRunning = 1,
    kPaused = 2,
    kFinished = 3,
    kStopped = 4,
    kFailed = 5,
    kPreempted = 6,
    kWaiting = 7, ///< in the queue; nothing of it is on any node yet
};
const char* runStateName(RunStateKind state); ///< "preparing", "running", ...
bool isLive(RunStateKind state);              ///< preparing or running: nodes may have ranks of it
bool hasEnded(RunStateKind state);            ///< neither live nor waiting

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
/// Code of the event that a command is not sent any more.
inline constexpr const char* kCommandLapsedEvent = "command-lapsed";

struct LostNode {
    std::string nodeName;
    int64_t sinceNs = 0;
    std::string why; ///< the event's words
    bool operator==(const LostNode&) const = default;
};

/// A run as the database has it, with its RunStateKind: a line of the list of runs. What is only
/// known while nodes are linked is in LiveState.
struct RunSummary {
    QString id;
    QString name;
    RunStateKind state = RunStateKind::kPreparing;
    int attempt = 1;
    bool held = false;      ///< it runs, and a command holds it at a step
    int64_t step = 0;       ///< last one of rank 0; before the first: 0, of a branch parentStep
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
    bool isStarred = false;
    bool isArchived = false; ///< kept, but out of the way: see matches()
    QString parentRun;       ///< branch of; empty: none
    int64_t parentStep = 0;
    QString parentName; ///< empty: the parent was deleted
    QString sweep;      ///< that it is of; empty: none
    /// The last step at which its sweep let it go on; below 0, with that sign: ended it; 0:
    /// neither.
    int64_t rung = 0;
    int queuePlace = 0;    ///< it waits for free nodes as the 1st, 2nd, ...; 0: it does not
    int64_t deletedNs = 0; ///< when it was moved to the trash; 0: it is not there
    /// Its end was concluded, as one of its nodes has told none; what that tells later corrects it.
    bool isPresumed = false;
    /// Of a run that has ended: nodes of which not all is read, so that what they have is not
    /// known. They were declared lost, or have told no end.
    std::vector<std::string> unreadNodes;

    /// Those of its own, without its parent's.
    int64_t trainedSteps() const { return step - parentStep; }
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
/// "node-a:8, node-b:4": with the ranks of each.
std::string nodesText(const RunSummary& run);
/// "120/1000"; "120" while it is not known how many steps train.epochs are.
std::string stepsText(const RunSummary& run, const std::string& of = "/");

struct NewRun {
    QString id;
    QString name;
    std::string specToml;
    std::vector<RunNode> nodes;
    QString parentRun;
    int64_t parentStep = 0;
};

} // namespace rm
