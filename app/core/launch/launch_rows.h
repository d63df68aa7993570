// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/agent_client.h"
#include "app/core/deploy/runtime.h"
#include "app/core/findings/check_row.h"
#include "app/core/launch/node_outlook.h"
#include "app/core/network/network_matrix.h"
#include "shared/spec/run_spec.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What the nodes of a launch said of it; the first has rank 0.
struct LaunchFacts {
    struct OnNode {
        Node node;
        NodeReport report;       ///< NodeOutlook::report
        int64_t bytesToSend = 0; ///< trainer and staged data
        FolderOnNode home;       ///< where that goes
        FolderOnNode state;      ///< where runs lie, with checkpoints if the spec names no folder
        std::optional<FolderOnNode> checkpoints; ///< the folder that the spec names
        std::vector<LaunchProblem> problems;     ///< NodeOutlook::problems
        std::optional<DataFingerprint> data;     ///< of what it reads; nullopt: it is staged
        int ranks = 0;                           ///< asked for; 0: see PlacedNode
        std::optional<SlurmPartition> partition; ///< NodeOutlook::partition
        /// The folder where its ranks save.
        FolderOnNode& saving() { return checkpoints ? *checkpoints : state; }
        const FolderOnNode& saving() const { return checkpoints ? *checkpoints : state; }
        bool operator==(const OnNode&) const = default;
    };
    std::vector<OnNode> nodes;
    std::optional<NetworkMatrix> lastNetwork = {}; ///< of these nodes; nullopt: not measured
};

/// The id of the row that says what the ranks compute with, as placeRanks() of a run that begins
/// decides, why it refuses them, and which GPUs stay idle.
inline constexpr const char* kLaunchRuntimeRow = "launch-runtime";

/// Judges what no single node can say: on what all train, room on the disks after all that a launch
/// adds, who finds the checkpoints again, whether all train on the same data, who else is there,
/// and at which addresses they may meet.
std::vector<CheckRow> launchRows(const RunSpec& spec, const LaunchFacts& facts,
                                 const std::function<bool(const Runtime&)>& isHere = isInstalled);

} // namespace rm
