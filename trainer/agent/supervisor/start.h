// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <string>

namespace rm {

/// `start RUN_ID`: writes spec and plan into the run directory, starts a supervisor detached from
/// this session and waits until it has started the ranks. Returns the JSON to print. `order` is the
/// JSON of stdin: {"spec": TOML, "plan": TOML}.
///
/// kCorrupt: the bundle is not as it was sent. kUnavailable: the run is supervised already, or
/// ranks of it still run.
Result<std::string> startRun(const Folders& folders, const std::string& runId,
                             const std::string& order);

/// `adopt RUN_ID NODE`: if the run's agent here is gone and has not recorded the end of its
/// attempt, starts a supervisor for its ranks. If none lives, and the run cannot go on by itself or
/// was left for longer than others wait, records their end instead. Of a part in a job of Slurm it
/// records the end once the job is over. Returns the JSON to print.
/// kUnavailable: an agent supervises the run.
Result<std::string> adoptRun(const Folders& folders, const std::string& runId, int64_t nodeIndex);

} // namespace rm
