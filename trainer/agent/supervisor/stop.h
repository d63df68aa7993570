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

/// Kills what lives on this machine of attempts before that one, whichever node of the run it was
/// then: the machine was declared lost when it could not be reached. A copy of the last checkpoint,
/// for which agents stay, ends as well.
Result<void> endEarlierAttempts(const Folders& folders, const std::string& runId, int64_t attempt);

/// `state RUN_ID`: {"attempt": newest that began on this machine, "alive": bool}. kNotFound: there
/// is nothing of the run.
Result<std::string> stateOfRun(const Folders& folders, const std::string& runId);

/// `remove RUN_ID [--preview]`: deletes the run directory and what of its namedCheckpoints() goes
/// with it, unless it is a preview, and says what that held: {"folder", "bytes", "checkpoints",
/// "named", "state_id"}. "named" lists the folders that its spec names: {"folder", "bytes",
/// "checkpoints", "stays_as": why it stays}. What is not there holds nothing. kUnavailable while
/// anything of it runs. kInvalid: what is there is no run of Ringmaster's; it stays.
Result<std::string> removeRun(const Folders& folders, const std::string& runId, bool preview);

/// kUnavailable while anything of the run runs, here or, where machines share this home, elsewhere.
/// An agent that has told of the end is waited for, or, in a preview, let be.
Result<void> checkIsOver(const Folders& folders, const std::string& runId, bool preview);

} // namespace rm
