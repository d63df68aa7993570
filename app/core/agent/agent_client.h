// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/node_cleaning.h"
#include "app/core/agent/run_folder.h"
#include "app/core/node/node.h"
#include "app/core/remote/host.h"
#include "shared/checkpoint/compare.h"
#include "shared/checkpoint/owner.h"
#include "shared/checkpoint/saved_runs.h"
#include "shared/spec/node_plan.h"
#include "shared/wire/dial.h"
#include "shared/wire/slurm_report.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The agent's subcommands as calls. Each blocks for one short exchange on the session's thread.
/// `agent` is what deployAgent() gave.

Result<NodeReport> probeNode(HostSession& session, const std::string& agent, std::stop_token stop);

/// A path on a node that a rank could not read.
struct UnreadablePath {
    std::string path;
    std::string why; ///< "is not there", "is an empty folder", ...
    bool operator==(const UnreadablePath&) const = default;
};

/// Parses the JSON of `ringmaster-agent paths`. kCorrupt: it is something else.
Result<std::vector<UnreadablePath>> parseUnreadablePaths(const std::string& json);

/// What ranks of a node could do with a folder.
struct FolderOnNode {
    std::string folder;     ///< the nearest one that is there
    int64_t freeBytes = -1; ///< -1: not told
    int64_t device = -1;    ///< the same for folders of one file system of that node
    std::string problem; ///< why no file can be written there; empty: one can, or it was not tried
    bool hasMark = false;
    bool operator==(const FolderOnNode&) const = default;
};

/// JSON of `ringmaster-agent folder`. kCorrupt: not such a text.
Result<FolderOnNode> parseFolderOnNode(const std::string& json);

/// The facts that tell data of nodes apart (see trainer/agent/probe/fingerprint.h).
struct DataFingerprint {
    int64_t files = 0;
    int64_t bytes = 0;
    std::string digest;
    bool isWhole = true;
    bool operator==(const DataFingerprint&) const = default;
};

/// JSON of `ringmaster-agent fingerprint`. kCorrupt: not such a text.
Result<DataFingerprint> parseDataFingerprint(const std::string& json);

/// What to do with a mark by which nodes find out that a folder is the same (see
/// trainer/agent/probe/folder.h).
enum class MarkOrder { kLeave, kLook, kTake };

/// Ringmaster's own folders on a node, as FolderQuestion::path.
inline constexpr const char* kHomeFolder = "home";
inline constexpr const char* kStateFolder = "state";

struct FolderQuestion {
    std::string path; ///< absolute, or kHomeFolder or kStateFolder
    std::string mark;
    MarkOrder order = MarkOrder::kLook;
};

/// Several questions to one agent, answered in one exchange instead of one each.
class AgentQuestions {
public:
    // Each takes where to put the answer, which must live until ask() has returned. They are
    // answered in their order.

    void probe(Result<NodeReport>& answer);
    /// The paths that the node's user cannot read, in their order.
    void unreadable(const std::vector<std::string>& paths,
                    Result<std::vector<UnreadablePath>>& answer);
    void savedRuns(const std::string& folder, const std::string& name,
                   Result<std::vector<SavedRun>>& answer);
    void folder(const FolderQuestion& question, Result<FolderOnNode>& answer);
    /// Within `limit`, else the answer is kUnavailable. `arePictures`: each is read by all its
    /// names.
    void fingerprint(const std::vector<std::string>& paths, bool arePictures,
                     std::chrono::seconds limit, Result<DataFingerprint>& answer);

    /// The error is one of the exchange; without it, each question has its answer or its own error.
    Result<void> ask(HostSession& session, const std::string& agent, std::stop_token stop) const;

private:
    struct Question {
        std::string name;
        std::string input;
        std::function<void(const Result<std::string>&)> answer;
    };
    template <class T>
    void add(const std::string& name, std::string input, Result<T> (*parse)(const std::string&),
             Result<T>& answer);

    std::vector<Question> m_questions;
    std::chrono::milliseconds m_further{0}; ///< beyond what one question may take
};

/// Parses the JSON of `ringmaster-agent ask`: as many answers as were asked for, each with its own
/// error. kCorrupt: it is something else.
Result<std::vector<Result<std::string>>> parseAnswers(const std::string& json, size_t questions);

/// Starts the node's ranks, detached; returns once they are forked.
Result<void> startOnNode(HostSession& session, const std::string& agent,
                         const std::string& specToml, const NodePlan& plan, std::stop_token stop);

/// What the node's Slurm says of its partitions. kUnavailable: it has none, or it does not answer.
Result<SlurmReport> slurmOnNode(HostSession& session, const std::string& agent,
                                std::stop_token stop);

/// Hands in a job that will start the ranks of all these plans: its id.
Result<std::string> submitOnNode(HostSession& session, const std::string& agent,
                                 const std::string& specToml, const std::vector<NodePlan>& plans,
                                 const std::string& script, std::stop_token stop);

/// What a node knows of a run.
struct RunOnNode {
    int attempt = 0;      ///< the newest that began there; 0: none
    bool isAlive = false; ///< ranks of it, or an agent that waits to start some
};
/// Of a node that says twice, with a pause, that it has nothing of the run: RunOnNode().
Result<RunOnNode> runOnNode(HostSession& session, const std::string& agent,
                            const std::string& runId, std::stop_token stop);

/// Ends the run's ranks on this node; not running is fine. True: there were some, or an agent that
/// waited to start some. That nothing of the run is there is believed likewise.
Result<bool> stopOnNode(HostSession& session, const std::string& agent, const std::string& runId,
                        std::stop_token stop);

/// Moves a retired checkpoint of the run aside there. kNotFound: there is none of that name.
Result<void> removeCheckpointOnNode(HostSession& session, const std::string& agent,
                                    const std::string& runId, const std::string& name,
                                    std::stop_token stop);

/// Sets or takes the mark of a pinned checkpoint in that folder.
Result<void> pinCheckpointOnNode(HostSession& session, const std::string& agent,
                                 const std::string& path, bool pinned, std::stop_token stop);

/// Undoes removeCheckpointOnNode(). kNotFound: it is not kept there any more.
Result<void> bringBackCheckpointOnNode(HostSession& session, const std::string& agent,
                                       const std::string& runId, const std::string& name,
                                       std::stop_token stop);

/// Compares the weights of the checkpoints in two folders.
Result<TensorComparison> compareCheckpointsOnNode(HostSession& session, const std::string& agent,
                                                  const std::string& a, const std::string& b,
                                                  std::stop_token stop);

/// Compares every byte of the checkpoint in that folder with its manifest. kCorrupt: what is wrong.
/// kNotFound: it has no manifest. kUnavailable: nor is the folder in which it lay, which may be on
/// a disk that is away; one that has nothing of checkpoints counts as that, too, unless it has
/// copies, as these come and go.
Result<void> verifyCheckpointOnNode(HostSession& session, const std::string& agent,
                                    const std::string& path, bool isCopy, std::stop_token stop);

/// A checkpoint that lies on a node.
struct CheckpointThere {
    std::string runId;
    int64_t attempt = 1;
    int64_t step = 0;
    int64_t bytes = 0;
    bool isCopy = false; ///< made by a copy in the background: see CheckpointPlace::keepCopies
    int64_t ranks = 0;   ///< that made it; 0: an agent that does not tell
    int64_t positionsPerStep = 0; ///< samples, over all ranks; 0: not known
    bool operator==(const CheckpointThere&) const = default;
};

/// What a node answers that was asked for a checkpoint.
struct CheckpointAnswer {
    std::optional<CheckpointThere> there; ///< nullopt: none that anything could go on from
    CheckpointFolder folder = CheckpointFolder::kKnown; ///< in which it was looked for
    bool operator==(const CheckpointAnswer&) const = default;
};

/// Whether a folder that had checkpoints, or copies of them, is away as a disk that is not mounted.
bool isAway(CheckpointFolder folder, bool hasCopies);

/// The checkpoint in that folder, by its manifest and the sizes of its files.
Result<CheckpointAnswer> findCheckpointOnNode(HostSession& session, const std::string& agent,
                                              const std::string& path, std::stop_token stop);

/// JSON of `ringmaster-agent find-checkpoint`. kCorrupt: not such a text.
Result<CheckpointAnswer> parseCheckpointThere(const std::string& json);

/// JSON of `ringmaster-agent verify-checkpoint`; errors as above. kInternal: not such a text.
Result<void> parseVerdict(const std::string& json, bool isCopy = true);

/// Two of the runs that have checkpoints in that folder (savedRunsIn()): the one with the newest,
/// and the one called `name` with the newest. `folder` is what checkpoint.directory names, as
/// errors say.
Result<std::vector<SavedRun>> savedRunsOnNode(HostSession& session, const std::string& agent,
                                              const std::string& folder, const std::string& name,
                                              std::stop_token stop);

enum class FolderOrder { kPreview, kRemove };

/// The run's folder there, which is removed by kRemove. kUnavailable: something of it runs.
Result<RunFolder> runFolderOnNode(HostSession& session, const std::string& agent,
                                  const std::string& runId, FolderOrder order,
                                  std::stop_token stop);

/// JSON of `ringmaster-agent remove`. kCorrupt: not such a text.
Result<RunFolder> parseRunFolder(const std::string& json);

/// What was deployed there; all but a preview removes what nothing needs. `keep` names folders that
/// stay. kUnavailable: files are being received there.
Result<DeployedReport> cleanOnNode(HostSession& session, const std::string& agent,
                                   const NodeCleaning& cleaning,
                                   const std::vector<std::string>& keep, std::stop_token stop);

/// Holds ports open on every address of the node until it is destroyed (or 30 s). Whoever connects
/// is greeted with its token.
class PortListener {
public:
    /// kUnavailable: the port is taken, and no other will do. `stop` ends the wait for it,
    /// `closing` also a later close().
    static Result<PortListener> open(HostSession& session, const std::string& agent,
                                     const ListenOrder& order, std::stop_token stop,
                                     std::stop_token closing);
    const OpenPorts& ports() const { return m_ports; }

    /// Frees the ports and waits until they are free. The error says that it was not there any
    /// more, or does not end: who dialed it met something else, or nothing.
    Result<void> close();

private:
    std::unique_ptr<HostProcess> m_process;
    OpenPorts m_ports;
};

/// Dials from this node, for some 8 s at most: an answer for each target, in their order.
Result<std::vector<DialAnswer>> dialFromNode(HostSession& session, const std::string& agent,
                                             const DialOrder& order, std::stop_token stop);

} // namespace rm
