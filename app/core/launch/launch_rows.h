// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/runtime.h"
#include "app/core/findings/check_row.h"
#include "app/core/launch/node_preflight.h"
#include "shared/spec/run_spec.h"

#include <functional>
#include <string>
#include <vector>

namespace rm {

/// The id of the row that says what the ranks compute with, as placeRanks() decides, why it refuses
/// them, and which GPUs stay idle.
inline constexpr const char* kLaunchRuntimeRow = "launch-runtime";

/// What the ids of all rows begin with, and so the codes of the events that a launch makes of them.
inline constexpr const char* kLaunchRowPrefix = "launch-";

/// "12 files, 1.2 GB"
std::string dataWords(const DataFingerprint& data);

/// Judges what no single node can say: on what all train, room on the disks after all that a launch
/// adds, who finds the checkpoints again, whether all train on the same data, who else is there,
/// and at which addresses they may meet.
std::vector<CheckRow> launchRows(const RunSpec& spec, const Preflight& preflight,
                                 const std::function<bool(const Runtime&)>& isHere = isInstalled);

} // namespace rm
