// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/launcher.h"

#include <stop_token>
#include <string>
#include <vector>

namespace rm {

class HostPool;

/// What the trainer can find out on nodes without a run.
enum class TrialKind {
    kSelfTest,    ///< of one node's devices: {"self_tests": [...]} (shared/wire/NODE_REPORT.md)
    kAllReduce,   ///< between the ranks of several nodes: a LinkTest
    kStepProfile, ///< of a spec, on one rank of one node: a StepProfile
};

struct NodeTrial {
    TrialKind kind = TrialKind::kSelfTest;
    std::vector<Placement> nodes;
    std::string spec; ///< TOML, of a kStepProfile; else empty
    bool operator==(const NodeTrial&) const = default;
};

/// Of the spec, on one rank of the first of `nodes`, which is there.
NodeTrial stepProfileTrial(const RunSpec& spec, const std::vector<Placement>& nodes);

/// "self-test", "all-reduce test", "step profile"
const char* trialName(TrialKind kind);

/// Probes the nodes, sends the trainer where it is missing, and lets it do that: the JSON of the
/// answer. `parties`: the trial's nodes. Blocks for seconds, besides the sending. Errors are those
/// of a Launcher.
Result<std::string> runTrial(const NodeTrial& trial, std::vector<PlacedParty> parties,
                             HostPool& hosts, const ProgressSink& progress, std::stop_token stop);

} // namespace rm
