// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// The part of one node in one attempt of a run: `plan.toml` in the run directory, written by the
/// app, read by the agent. Ranks are numbered node by node (torchrun's GROUP_RANK order).
struct NodePlan {
    std::string runId;
    std::string runName;
    int64_t attempt = 1;    ///< 1, 2, ...
    int64_t nodeIndex = 0;  ///< GROUP_RANK; with gaps where nodes of the run do not take part
    int64_t nodeCount = 1;  ///< nodes that take part
    int64_t firstRank = 0;  ///< global rank of LOCAL_RANK 0
    int64_t localRanks = 1; ///< LOCAL_WORLD_SIZE
    int64_t worldSize = 1;
    std::string masterAddr = "127.0.0.1";
    int64_t masterPort = 0;
    std::string interface;      ///< NCCL_SOCKET_IFNAME / GLOO_SOCKET_IFNAME here; empty: not set
    std::string address;        ///< that interface's, at which the others reach this node; empty:
                                ///< the one towards masterAddr
    std::string device = "cpu"; ///< "cpu" | "cuda"
    std::string bundle;         ///< folder with bin/ and lib/ of the trainer
    /// For a job of Slurm on GPUs: which Runtime the bundle is, as that was chosen before anybody
    /// saw the GPUs. Else empty.
    std::string runtime;
    std::string startFrom; ///< checkpoint folder on the node of rank 0; empty: from scratch
    /// A person named that checkpoint. Else it is the newest, and if it is damaged the newest whole
    /// one before it takes its place.
    bool startFromIsExact = false;
    std::vector<std::string> environment; ///< "NAME=value"
    std::string storeNonce; ///< random, of this attempt alone: keeps its ranks among themselves
    /// Nodes that the run was started on; 0: nodeCount. An attempt may have fewer.
    int64_t plannedNodes = 0;
    std::vector<int64_t> members; ///< node indices that take part; empty: all
    /// The port at masterAddr where node 0's agent listens for the other nodes' agents; 0: nowhere,
    /// so that no agent restarts a run of several nodes.
    int64_t agentPort = 0;
    std::vector<std::string> nodeNames; ///< of the planned nodes, for people
    std::string startedBy; ///< who launched the attempt, and where: "me@laptop"; empty: not told
    std::string agentKey;  ///< 32 random bytes in hex, by which the run's agents know each other

    /// What the leader knew when this attempt began, for the agent that may take its place.
    int64_t restartsInARow = 0; ///< without a new step
    int64_t reachedStep = 0;    ///< by the attempts before

    int64_t nodes() const { return plannedNodes > 0 ? plannedNodes : nodeCount; }

    bool operator==(const NodePlan&) const = default;
};

/// The name that people use for the planned node of that index: "node 1" if the plan does not tell.
std::string nameOfNode(const NodePlan& plan, int64_t index);

Result<NodePlan> parseNodePlan(std::string_view toml, std::string_view source);
std::string toToml(const NodePlan& plan);

/// A run id is 1 to 64 of [a-z0-9-], starting with a letter or digit: safe in paths and commands.
bool isValidRunId(std::string_view id);

} // namespace rm
