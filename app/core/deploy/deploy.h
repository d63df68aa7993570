// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "shared/io/data_files.h"
#include "shared/result.h"
#include "shared/wire/receive.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace rm {

/// How far a transfer is.
struct Transferred {
    int64_t done = 0, total = 0; ///< bytes of the files that had to be moved
    int64_t sent = 0;            ///< bytes on the wire for the done ones: they travel compressed
    std::string repairs = {};    ///< what had changed on the node since it was sent; empty: nothing
    std::string from = {};       ///< the node that it comes from; empty: this computer
    int64_t reused = 0;          ///< bytes beside them that a torch installed there had
    bool operator==(const Transferred&) const = default;
};
using TransferProgress = std::function<void(const Transferred&)>;

class ChainPlace;

/// Makes sure that this release's agent is on the node and gives the path to run it by. On this
/// computer that is the agent beside the program. Otherwise the agent goes over stdin into a
/// fixed shell script that verifies its SHA-256 before it is renamed to
/// `HOME/agents/SHA256/ringmaster-agent`.
Result<std::string> deployAgent(HostSession& session, const Node& node, std::stop_token stop);

/// Where an agent failed: it could not be sent, or is there and gave no report.
enum class AgentFault { kNotSent, kNotRun };

/// What to do about an agent that failed with an error of that kind.
std::string adviceFor(ErrorCode code, AgentFault fault);

/// A connection to a node that has this release's agent.
struct NodeSession {
    std::unique_ptr<HostSession> session;
    std::string agent; ///< the path to run it by
};

/// openSessionPatiently() and deployAgent(). What the latter meets is a failure of Cause::kOther,
/// with adviceFor() where the folder there is at fault.
tl::expected<NodeSession, ConnectFailure> openNode(const Node& node, const Credentials& credentials,
                                                   std::stop_token stop,
                                                   const OnConnectPause& onPause = {},
                                                   ConnectPatience patience = kLoginPatience);

/// Carries the checkpoint in the folder `path` of one node to another (shared/wire/CHECKPOINT.md):
/// the folder where it lies there then, whole. Nothing is carried if it lies there already. The
/// files pass through this program and are not stored by it. `bytes`: of the files, for `progress`.
Result<std::string> carryCheckpoint(const NodeSession& from, const std::string& path,
                                    const NodeSession& to, const CheckpointPlace& place,
                                    int64_t bytes, const TransferProgress& progress,
                                    std::stop_token stop);

/// Files that make a folder on the node.
struct LocalTree {
    struct File {
        std::string path;  ///< in the tree, relative
        std::string local; ///< here
        bool executable = false;
    };
    std::string kind; ///< "bundles" | "data"
    std::vector<File> files;
    bool isInPlace = false; ///< a bundle that this computer runs from where the program lies
    std::string label = {}; ///< of a bundle: release and runtime
};

/// The trainer, its plugin for GPUs, and the libraries they need (not glibc's, not the driver's).
/// `runtime`: "cpu" or a Runtime's name.
Result<LocalTree> trainerBundle(const std::string& runtime);

/// What tells that trainer from others: release, runtime and a digest of the programs in the
/// bundle that Ringmaster is itself. Empty: it cannot be read.
std::string trainerIdentity(const LocalTree& bundle);

/// Under which names dataTree() has these paths, none within another: "corpus", "2/corpus"; of
/// catalogues with the folders that tell their language, "it/LC_MESSAGES/x.mo".
std::vector<std::string> stagedNames(const std::vector<std::string>& paths);

/// Every file of these files and folders, for `data.stage = true`, below stagedNames(), and one to
/// which several names lead as often as the trainer reads it. An error names the path that cannot
/// be read or staged. kInvalid, naming all of them: there is no file at all.
Result<LocalTree> dataTree(const std::vector<std::string>& paths,
                           Repeated repeated = Repeated::kOnce);

/// Sends what the node lacks and gives the folder's path there. What was sent before is never
/// sent again; a cut link resumes where it ended. Every file of a bundle is verified there, and
/// one that has changed since is sent again, with Transferred::repairs. What an installed torch of
/// the node has of it is copied there. With a `place` in a chain of nodes that get the same tree at
/// the same time (transfer_chain.h) it comes from another node if one can be reached; then this
/// returns when all of the chain have it or have failed.
Result<std::string> deployTree(HostSession& session, const std::string& agent,
                               const LocalTree& tree, const TransferProgress& progress,
                               std::stop_token stop, ChainPlace* place = nullptr);

/// Bytes of what the node lacks of the tree, before compression; 0 where deployTree() would send
/// nothing.
Result<int64_t> missingBytes(HostSession& session, const std::string& agent, const LocalTree& tree,
                             std::stop_token stop);

} // namespace rm
