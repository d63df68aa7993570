// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/agent_client.h"
#include "app/core/launch/plan.h"
#include "app/core/network/network_matrix.h"
#include "app/core/node/node.h"
#include "app/core/remote/host.h"
#include "shared/spec/run_spec.h"
#include "shared/wire/slurm_report.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// Why a node would refuse a launch.
struct LaunchProblem {
    std::string what;     ///< "data.train names /x, which is not there"
    std::string fix = {}; ///< empty: put it there, or change the setting that names it
    // What in the spec names the cause; empty: nothing does.
    std::string key = {};  ///< "data.train"
    std::string path = {}; ///< of the key's values
    bool operator==(const LaunchProblem&) const = default;
};

/// Problem and fix as one sentence.
std::string problemWords(const LaunchProblem& problem);

/// What a launch would find on one node; nothing is started.
struct NodePreflight {
    Node node;
    int ranks = 0;                       ///< asked for; 0: see PlacedNode
    NodeReport report;                   ///< with all its GPUs; of a Slurm cluster reportInJob()
    std::vector<LaunchProblem> problems; ///< what prevents it there
    /// The partition of the job; nullopt: the node is no Slurm cluster, or a problem says why not.
    std::optional<SlurmPartition> partition = std::nullopt;
    /// Of trainer and staged data that the node lacks, before compression; nullopt: not counted.
    std::optional<int64_t> bytesToSend = std::nullopt;

    // With PreflightParts::folders, else empty:
    FolderOnNode home;  ///< where that goes
    FolderOnNode state; ///< where runs lie, with checkpoints if the spec names no folder
    std::optional<FolderOnNode> checkpoints = std::nullopt; ///< the folder that the spec names

    /// Of what it reads; nullopt: it is staged, or was not compared.
    std::optional<DataFingerprint> data = std::nullopt;
    std::string dataProblem = {}; ///< why it was not compared; empty: nobody wanted that

    /// The folder where its ranks save.
    FolderOnNode& saving() { return checkpoints ? *checkpoints : state; }
    const FolderOnNode& saving() const { return checkpoints ? *checkpoints : state; }
    bool operator==(const NodePreflight&) const = default;
};

/// What the nodes of a launch said of it; the first has rank 0.
struct Preflight {
    std::vector<NodePreflight> nodes;
    std::optional<NetworkMatrix> lastNetwork = {}; ///< of these nodes; nullopt: not measured
    std::optional<Beginning> beginning = {};       ///< of the attempt; nullopt: Beginning::of(spec)
};

/// What a preflight does beside its quick part. That probes each node, asks its Slurm where it is a
/// cluster, and looks for the data that its ranks would read there, and in checkpoint.directory for
/// what another run has there, as checkpoint.on_existing says. Staged data is looked for on this
/// computer.
struct PreflightParts {
    /// Looks at the folders where the launch will write. For that, a small file is written to the
    /// one of the checkpoints and removed at once.
    bool folders = false;
    /// Looks on the other nodes for that file, which says whether they have the same folder.
    bool sharing = false;
    bool data = false;                   ///< compares data that several nodes read themselves
    std::chrono::seconds dataLimit{120}; ///< on each node
    /// Counts what deploy() would send. For that, trainer and staged data are hashed here, which
    /// takes some seconds the first time.
    bool bytes = false;
};

/// `spec` without the paths that this node does not need: weights and tokenizer are read, and
/// checkpoints written, only by rank 0, on the first node.
RunSpec specToLookFor(RunSpec spec, bool isFirstNode);

/// The file by which nodes find out that a folder is the same (see FolderQuestion), on one node.
struct PreflightMark {
    std::string mark;
    bool isFirst = true; ///< it leaves the mark, and so tries to write
    bool stays = false;  ///< until the other nodes have looked for it
    std::string folder;  ///< checkpoint.directory of the launch; empty: none
};

/// One node's part of a preflight: one exchange with its agent, and one more each for Slurm, for
/// data of a recipe, for the comparison of data, and for the bytes of the trainer and of staged
/// data. `spec` is specToLookFor() the node. Gathers problems, so that a person sees all of them at
/// once; an error is only what ends the talk with the node.
Result<NodePreflight> preflightOnNode(HostSession& session, const std::string& agent,
                                      const Node& node, const RunSpec& spec,
                                      const PreflightParts& parts, const PreflightMark& mark,
                                      std::stop_token stop);

/// The nodes of a preflight as they take part.
std::vector<PlacedNode> placedNodes(const Preflight& preflight);

} // namespace rm
