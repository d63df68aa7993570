// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <cstdint>
#include <string>

namespace rm {

/// How long `stop` waits; tests take less.
struct StopPatience {
    int64_t supervisorMs = 40'000; ///< longer than the supervisor's own grace for its ranks
    int64_t ranksMs = 5'000;       ///< for ranks whose supervisor is gone
};

/// `stop RUN_ID [--kill]`: ends the run on this node, by its supervisor or, when that is gone, rank
/// by rank; processes are known by pid and start time, never by name. With `kill` at once. Returns
/// when nothing is left running: {"state": "stopped" | "not-running", "supervisor", "ranks"}.
Result<std::string> stopRun(const Folders& folders, const std::string& runId, bool kill,
                            const StopPatience& patience = {});

/// Kills what lives of an earlier attempt than that one in the run directory, which was given up
/// when its node could not be reached.
Result<void> endEarlierAttempt(const std::string& runDir, int64_t attempt);

/// `remove RUN_ID [--preview]`: deletes the run directory, unless it is a preview, and says what it
/// held: {"folder", "bytes", "checkpoints"}. What is not there holds nothing. kUnavailable while
/// anything of it runs.
Result<std::string> removeRun(const Folders& folders, const std::string& runId, bool preview);

} // namespace rm
