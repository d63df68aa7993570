// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"

#include <string>
#include <vector>

namespace rm {

/// A torch for NVIDIA GPUs that this release's trainer is built with
/// (packaging/requirements/runtime-NAME.txt). The drivers that it runs on are from NVIDIA's table
/// (https://docs.nvidia.com/deploy/cuda-compatibility/), the GPUs from torch's own list.
struct Runtime {
    std::string name; ///< "cuda13", as launch.runtime and in the name of its bundle
    int leastDriver;  ///< the major version
    int leastCapability;
    int pastCapability; ///< the first that it has no code for; 0: it has some that later ones take
};

/// The newest first.
const std::vector<Runtime>& gpuRuntimes();

/// Why the node cannot compute on all its GPUs with it, e.g. "its driver 470.82 is older than 525";
/// empty: it can. A fact that the probe did not find out is no obstacle.
std::string obstacleTo(const Runtime& runtime, const NodeReport& report);

/// Why no runtime, installed here or not, can compute on all of the node's GPUs, with what is least
/// to be changed; empty: one can.
std::string whyNoRuntime(const NodeReport& report);

/// The least major version of a driver with which one runtime could compute on all of the node's
/// GPUs, which none can now; 0: no driver changes that, or nothing stands in the way.
int driverToInstall(const NodeReport& report);

/// Why its GPUs cannot train in that train.precision, and in which they can; empty: they can, as
/// far as is known.
std::string obstacleToPrecision(const std::string& precision, const NodeReport& report);

} // namespace rm
