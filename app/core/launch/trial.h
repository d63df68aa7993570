// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/launcher.h"

#include <stop_token>
#include <string>
#include <vector>

namespace rm {

class HostPool;

/// The measurements that the trainer makes on nodes without a run.
enum class TrialKind {
    kSelfTest,    ///< of one node's devices: {"self_tests": [...]} (shared/wire/NODE_REPORT.md)
    kAllReduce,   ///< between the ranks of several nodes: a LinkTest
    kStepProfile, ///< of a spec, on one rank of one node beside its others: a StepProfile
};

struct NodeTrial {
    TrialKind kind = TrialKind::kSelfTest;
    std::vector<Placement> nodes;
    /// TOML: for kStepProfile the spec that is profiled; for kAllReduce the one for which the links
    /// are measured, whose [launch] counts, or empty; else empty.
    std::string spec;
    bool operator==(const NodeTrial&) const = default;
};

/// A step profile of the spec on one rank of the first of `nodes`, with that rank's share of its
/// cores.
NodeTrial stepProfileTrial(const RunSpec& spec, const std::vector<Placement>& nodes);
/// An all-reduce test of the ranks that the spec would have on the nodes, by their interfaces.
NodeTrial linkTrial(const RunSpec& spec, const std::vector<Placement>& nodes);

/// "self-test", "all-reduce test", "step profile"
const char* trialName(TrialKind kind);

/// The name of the trial in Engine::progressed(); no id of a run.
QString trialId(const NodeTrial& trial);

/// Probes the nodes, sends the trainer where it is missing, and lets it measure: the JSON of the
/// answer. `parties`: the trial's nodes. Blocks for seconds, besides the sending. Errors are those
/// of a Launcher. kInvalid: there are too few nodes, or one is a Slurm cluster.
Result<std::string> runTrial(const NodeTrial& trial, std::vector<PlacedParty> parties,
                             HostPool& hosts, const ProgressSink& progress, std::stop_token stop);

} // namespace rm
