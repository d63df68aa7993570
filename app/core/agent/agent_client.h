// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/node_cleaning.h"
#include "app/core/agent/run_folder.h"
#include "app/core/node/node.h"
#include "app/core/remote/host.h"
#include "shared/checkpoint/compare.h"
#include "shared/spec/node_plan.h"

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

/// Those of `paths` that the node's user cannot read, in their order.
Result<std::vector<UnreadablePath>> unreadablePaths(HostSession& session, const std::string& agent,
                                                    const std::vector<std::string>& paths,
                                                    std::stop_token stop);

/// Parses the JSON of `ringmaster-agent paths`. kCorrupt: it is something else.
Result<std::vector<UnreadablePath>> parseUnreadablePaths(const std::string& json);

/// Starts the node's ranks, detached; returns once they are forked.
Result<void> startOnNode(HostSession& session, const std::string& agent,
                         const std::string& specToml, const NodePlan& plan, std::stop_token stop);

/// What a node knows of a run.
struct RunOnNode {
    int attempt = 0;      ///< the newest that began there; 0: none
    bool isAlive = false; ///< ranks of it, or an agent that waits to start some
};
Result<RunOnNode> runOnNode(HostSession& session, const std::string& agent,
                            const std::string& runId, std::stop_token stop);

/// Ends the run's ranks on this node; not running is fine. True: there were some, or an agent that
/// waited to start some.
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
Result<void> verifyCheckpointOnNode(HostSession& session, const std::string& agent,
                                    const std::string& path, std::stop_token stop);

/// A checkpoint that lies on a node.
struct CheckpointThere {
    std::string runId;
    int64_t attempt = 1;
    int64_t step = 0;
    int64_t bytes = 0;
    bool isCopy = false; ///< made by a copy in the background: see CheckpointPlace::keepCopies
    bool operator==(const CheckpointThere&) const = default;
};

/// The checkpoint in that folder, by its manifest and the sizes of its files; nullopt: there is
/// none that anything could go on from.
Result<std::optional<CheckpointThere>> findCheckpointOnNode(HostSession& session,
                                                            const std::string& agent,
                                                            const std::string& path,
                                                            std::stop_token stop);

/// JSON of `ringmaster-agent find-checkpoint`. kCorrupt: not such a text.
Result<std::optional<CheckpointThere>> parseCheckpointThere(const std::string& json);

/// JSON of `ringmaster-agent verify-checkpoint`. kInternal: not such a text.
Result<void> parseVerdict(const std::string& json);

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

/// Holds a port open on every interface until it is destroyed (or 30 s).
class PortListener {
public:
    /// `port` 0: a free one. kUnavailable: the port is taken. `stop` ends the wait for it,
    /// `closing` also a later close().
    static Result<PortListener> open(HostSession& session, const std::string& agent, int64_t port,
                                     std::stop_token stop, std::stop_token closing);
    int64_t port() const { return m_port; }

    /// Frees the port and waits until it is free.
    Result<void> close();

private:
    std::unique_ptr<HostProcess> m_process;
    int64_t m_port = 0;
};

struct DialAnswer {
    std::string address; ///< as asked
    bool reached = false;
    std::string interface; ///< local one that it left by
    int64_t microseconds = -1;
    std::string error;
};

/// Parses the JSON of `ringmaster-agent dial ADDRESS...`, in the order of `addresses`. kCorrupt: it
/// is something else.
Result<std::vector<DialAnswer>> parseDialAnswers(const std::string& json,
                                                 const std::vector<std::string>& addresses);

/// Tries each address at `port` from this node.
Result<std::vector<DialAnswer>> dialFromNode(HostSession& session, const std::string& agent,
                                             const std::vector<std::string>& addresses,
                                             int64_t port, std::stop_token stop);

} // namespace rm
