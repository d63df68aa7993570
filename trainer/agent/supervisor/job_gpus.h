// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/node_plan.h"
#include "shared/spec/run_spec.h"
#include "trainer/agent/probe/gpus.h"

#include <string>

namespace rm {

/// Why the plan's ranks, which see `visibleDevices` of this node's GPUs, cannot train on them: by
/// the runtime that was chosen before the job had a node, or in the precision of the spec. A
/// sentence with GPU, driver and what to set instead; empty: they can, as far as NVML tells.
std::string whyUnfit(const NodePlan& plan, const RunSpec& spec, const Gpus& gpus,
                     const std::string& visibleDevices);

} // namespace rm
