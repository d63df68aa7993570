// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "shared/spec/run_spec.h"

#include <string>
#include <vector>

namespace rm {

/// What a launch of a run would meet on one node, before anything of it is begun.
struct NodeOutlook {
    NodeReport report;
    /// What holds it back there, a sentence each: "data.train names /x, which is not there".
    std::vector<std::string> problems;
    int64_t bytesToSend = 0; ///< of files that the node lacks, before compression
    bool operator==(const NodeOutlook&) const = default;
};

/// `spec` less what this node need not have: weights and tokenizer are read by rank 0, on the first
/// node, and sent to the other ranks.
RunSpec specToLookFor(RunSpec spec, bool isFirstNode);

/// Asks the node: probes it, looks for the data that its ranks would read there. In this order the
/// quick answers; nothing is sent. Data that is staged is looked for on this computer.
Result<NodeOutlook> lookAtNode(HostSession& session, const std::string& agent, const RunSpec& spec,
                               std::stop_token stop);

/// The same with bytesToSend where there is no problem, for which trainer and staged data are
/// hashed here where they were not yet: some seconds, the first time.
Result<NodeOutlook> lookAtWhole(HostSession& session, const std::string& agent, const RunSpec& spec,
                                std::stop_token stop);

} // namespace rm
