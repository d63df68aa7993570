// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/runtime.h"
#include "app/core/node/node.h"
#include "shared/spec/node_plan.h"
#include "shared/spec/run_spec.h"
#include "shared/spec/step_cut.h"
#include "shared/wire/slurm_report.h"

#include <QString>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A node taking part, with the number of ranks on it (0: one per GPU, else 1).
struct Placement {
    QString node;
    int ranks = 0;
    bool operator==(const Placement&) const = default;
};

/// A node that takes part, as asked for.
struct PlacedNode {
    Node node;
    NodeReport report; ///< its usedPart()
    /// 0: as the spec says, else one per GPU, else 1. Of a cluster on all nodes of the job.
    int ranks = 0;
    std::vector<size_t> gpuPlaces = {}; ///< its usedGpus(); empty: as they stand in the report
    std::optional<SlurmPartition> partition = std::nullopt; ///< of a cluster: where the job goes
    bool operator==(const PlacedNode&) const = default;
};

/// A node of which `whole` was found, with all its GPUs, as it takes part.
PlacedNode placeNode(const Node& node, const NodeReport& whole, int ranks,
                     const std::optional<SlurmPartition>& partition = std::nullopt);

/// Where all ranks meet: an address of the first node that every other node reached.
struct Rendezvous {
    std::string masterAddr = "127.0.0.1";
    int64_t masterPort = 0;
    std::vector<InterfaceReport> addresses = {}; ///< per node; without a name: its system chooses
    int64_t agentPort = 0;          ///< where the agents of several nodes meet, at the same address
    std::string ncclElsewhere = {}; ///< see rm::ncclElsewhere()
    bool operator==(const Rendezvous&) const = default;
};

/// The attempt that is to be planned.
struct PlanRequest {
    std::string runId;
    std::string runName;
    int64_t attempt = 1;
    std::string startFrom;
    bool startFromIsExact = false;                         ///< see NodePlan
    std::optional<StepsBefore> stepsBefore = std::nullopt; ///< of `startFrom`, where they are known
};

/// GPUs that could train but stay idle, as the run trains on CPUs though nobody asked for that.
struct IdleGpus {
    std::string which; ///< "node-1: 2 x NVIDIA H200, 139.8 GiB, sm_90"; empty: there are none
    std::string why;   ///< "this computer lacks the runtime cuda13"
    std::string fix;   ///< what to do
    bool operator==(const IdleGpus&) const = default;
};

/// The device and runtime that all ranks of a run compute with.
struct Target {
    std::string device;  ///< "cpu" or "cuda"
    std::string runtime; ///< "cpu" or a Runtime's name
    IdleGpus idle = {};
    bool operator==(const Target&) const = default;
};

/// kInvalid, naming it: one of several nodes is a Slurm cluster, which gives its job nodes itself.
Result<void> checkClusterIsAlone(const std::vector<Node>& nodes);

/// The target that the spec asks for, or CUDA if every node has GPUs that some runtime serves, one
/// for each rank that is asked for; then the newest runtime that serves all nodes, one that is
/// installed here before one that is not. Without one that is, what was left open ("auto") trains
/// on CPUs. kInvalid names the node that lacks what is asked for, and why; also where the nodes'
/// GPUs have no runtime in common.
Result<Target> chooseTarget(const RunSpec& spec, const std::vector<PlacedNode>& nodes,
                            const std::function<bool(const Runtime&)>& isHere = isInstalled);

/// kInvalid: the spec asks for bfloat16, and a GPU of that node lacks it.
Result<void> checkPrecision(const RunSpec& spec, const std::vector<PlacedNode>& nodes);

/// The ranks of each node. kInvalid names the node, what was asked and what it has.
Result<std::vector<int>> countRanks(const RunSpec& spec, const std::vector<PlacedNode>& nodes,
                                    const std::string& device);

/// Where all ranks of an attempt go.
struct PlacedRanks {
    Target target;
    std::vector<int> byPart; ///< on each node, of a cluster on each of the job's
    bool operator==(const PlacedRanks&) const = default;
};

/// Where an attempt begins: from scratch, or from a checkpoint.
struct Beginning {
    bool resumes = false;                            ///< from a checkpoint
    std::optional<StepsBefore> steps = std::nullopt; ///< of that, where they are known
    bool readsData = true;                           ///< false: nothing is trained

    /// The beginning of an attempt that is requested.
    static Beginning of(const PlanRequest& attempt, bool readsData);
    /// The beginning of a launch before it is known what it can go on from. Where the spec allows
    /// that, it is taken to go on, as less is asked then; the launch itself asks the rest.
    static Beginning of(const RunSpec& spec);
};

/// Decides, from what the nodes have told, whether they take an attempt and how, by
/// chooseTarget(), countRanks() or ranksInJob(), checkClusterIsAlone(), checkPrecision(),
/// checkStepCut() and checkMinNodes(). What goes on from a checkpoint keeps its precision, which
/// has worked before, and its steps, of which the spec need not say how large they are.
Result<PlacedRanks> placeRanks(const RunSpec& spec, const std::vector<PlacedNode>& nodes,
                               const Beginning& beginning = {},
                               const std::function<bool(const Runtime&)>& isHere = isInstalled);

/// One plan a node, ranks numbered node by node, with a nonce and a key that no other call gives.
/// `bundles` is parallel to `nodes`. Ranks get the environment of their node, on GPUs with the
/// chosen ones alone visible, and the spec's, which wins.
std::vector<NodePlan> makePlans(const RunSpec& spec, const std::vector<PlacedNode>& nodes,
                                const std::vector<int>& ranks, const std::string& device,
                                const Rendezvous& rendezvous,
                                const std::vector<std::string>& bundles,
                                const PlanRequest& request);

/// The variables "NAME=value" of the node and then of the spec, which win: each name once.
std::vector<std::string> ownVariables(const PlacedNode& placed, const RunSpec& spec);

/// The spec as the nodes get it: paths of staged data replaced by those there, one for one, and a
/// checkpoint directory that belongs to this run, so that no run overwrites another's checkpoints.
RunSpec specForNode(RunSpec spec, const std::string& runId, const std::string& stagedData);

/// "gpt tiny!" -> "gpt-tiny-3f9a1c": a new, valid run id.
std::string newRunId(const std::string& runName);

} // namespace rm
