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
    kStepProfile, ///< of a spec, on one rank of one node beside its others: a StepProfile
};

struct NodeTrial {
    TrialKind kind = TrialKind::kSelfTest;
    std::vector<Placement> nodes;
    /// TOML, of a kStepProfile; of a kAllReduce the one for which the links are measured, of which
    /// [launch] counts, or empty; else empty.
    std::string spec;
    bool operator==(const NodeTrial&) const = default;
};

/// Of the spec, on one rank of the first of `nodes`, which is there, with that rank's share of its
/// cores.
NodeTrial stepProfileTrial(const RunSpec& spec, const std::vector<Placement>& nodes);
/// Between the ranks that the spec would have on the nodes, by the ways that they would take.
NodeTrial linkTrial(const RunSpec& spec, const std::vector<Placement>& nodes);

/// "self-test", "all-reduce test", "step profile"
const char* trialName(TrialKind kind);

/// What Engine::progressed() calls it; no id of a run.
QString trialId(const NodeTrial& trial);

/// Probes the nodes, sends the trainer where it is missing, and lets it do that: the JSON of the
/// answer. `parties`: the trial's nodes. Blocks for seconds, besides the sending. Errors are those
/// of a Launcher. kInvalid: there are too few nodes, or one is a Slurm cluster.
Result<std::string> runTrial(const NodeTrial& trial, std::vector<PlacedParty> parties,
                             HostPool& hosts, const ProgressSink& progress, std::stop_token stop);

} // namespace rm
