// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <string>

namespace rm {

/// `start RUN_ID`: writes spec and plan into the run directory, starts a supervisor detached from
/// this session and waits until it has started the ranks. Returns the JSON to print. `order` is the
/// JSON of stdin: {"spec": TOML, "plan": TOML}.
///
/// kUnavailable: the run is supervised already, or ranks of it still run.
Result<std::string> startRun(const Folders& folders, const std::string& runId,
                             const std::string& order);

} // namespace rm
