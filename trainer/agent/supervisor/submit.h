// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <string>

namespace rm {

/// `submit RUN_ID`: writes the parts of a run and hands a script to Slurm that will start
/// `in-job RUN_ID` on each of its nodes. `order` is the JSON of stdin: {"script", "parts":
/// [{"spec": TOML, "plan": TOML}, ...]}, parts in their order. Returns {"job": ID}.
///
/// kUnavailable: Slurm refuses the script, or an earlier attempt cannot be ended.
Result<std::string> submitRun(const Folders& folders, const std::string& runId,
                              const std::string& order);

/// `job-state RUN_ID`: {"phase": "waiting" | "running" | "over", "words"} of the run's job;
/// {"problem"}: that cannot be told.
std::string jobStateOf(const Folders& folders, const std::string& runId);

/// Ends the run's job, if it has one that is not over, and waits until its processes are gone; then
/// records the end of what they left open. True: there was one.
Result<bool> endJob(const std::string& runFolder, bool kill);

/// Whether the run has a job that waits or runs. An error: Slurm does not say.
Result<bool> isJobAlive(const std::string& runFolder);

/// Records the end of this part's attempt if Slurm says that its job is over. False: it is not
/// over.
Result<bool> closeAfterJob(const std::string& partDir);

} // namespace rm
