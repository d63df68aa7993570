// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"

#include <string>
#include <vector>

namespace rm {

/// Where the GPUs stand in the report, as nvidia-smi numbers them, that the node's settings choose,
/// in their order; all where they choose none. One that the node does not have is left out.
std::vector<size_t> usedGpus(const Node& node, const NodeReport& report);

/// The report as far as the node is to be used: of the GPUs only those that its settings
/// choose, in their order. One that the node does not have is left out: missingGpus().
NodeReport usedPart(const Node& node, NodeReport report);

/// "GPU 3 was chosen to train on, and the node has only 0 (NVIDIA H200) and 1 (NVIDIA H200)": for
/// the first chosen one that the probe did not find; empty: all are there.
std::string missingGpus(const Node& node, const NodeReport& report);

/// "correct the choice with Edit, or with ringmaster nodes edit NAME --gpus 1": those of the chosen
/// that are there; "all" where none is.
std::string fixOfMissingGpus(const Node& node, const NodeReport& report);

/// The variables by which ranks see only the chosen ones; empty where none were chosen. `used` is
/// usedPart(). By UUID where the probe knows them, as CUDA numbers the fastest GPU first and NVML
/// by the bus.
std::vector<std::string> visibleGpus(const Node& node, const NodeReport& used);

} // namespace rm
