// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "app/core/remote/host.h"
#include "shared/spec/run_spec.h"
#include "shared/wire/slurm_report.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// Why a node would refuse a launch.
struct LaunchProblem {
    std::string what;     ///< "data.train names /x, which is not there"
    std::string fix = {}; ///< empty: put it there, or change the setting that names it
    bool operator==(const LaunchProblem&) const = default;
};

/// Problem and fix as one sentence.
std::string problemWords(const LaunchProblem& problem);

/// What a launch would find on one node; nothing is started.
struct NodeOutlook {
    NodeReport report;                   ///< with all its GPUs; of a Slurm cluster reportInJob()
    std::vector<LaunchProblem> problems; ///< what prevents it there
    int64_t bytesToSend = 0;             ///< of files that the node lacks, before compression
    /// The partition of the job; nullopt: the node is no Slurm cluster, or a problem says why not.
    std::optional<SlurmPartition> partition = std::nullopt;
    bool operator==(const NodeOutlook&) const = default;
};

/// `spec` without the paths that this node does not need: weights and tokenizer are read, and
/// checkpoints written, only by rank 0, on the first node.
RunSpec specToLookFor(RunSpec spec, bool isFirstNode);

/// The quick part: probes the node, asks its Slurm where it is a cluster, then looks for the data
/// that its ranks would read there, and in checkpoint.directory for what another run has there, as
/// checkpoint.on_existing says. Nothing is sent. Staged data is looked for on this computer.
Result<NodeOutlook> lookAtNode(HostSession& session, const std::string& agent, const Node& node,
                               const RunSpec& spec, std::stop_token stop);

/// lookAtNode() with bytesToSend if there is no problem. For that, trainer and staged data are
/// hashed here, which takes some seconds the first time.
Result<NodeOutlook> lookAtWhole(HostSession& session, const std::string& agent, const Node& node,
                                const RunSpec& spec, std::stop_token stop);

} // namespace rm
