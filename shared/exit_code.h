// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

/// Exit codes of all three programs. Values are stored in journals: never renumber.
enum class ExitCode : int {
    kOk = 0,
    kFailed = 1, ///< a fault of ours, or one without a code of its own
    kUsage = 2,  ///< command line or spec is wrong
    kNotFound = 3,
    kUnavailable = 4, ///< host unreachable, port taken, link lost, timed out
    kDenied = 5,      ///< authentication, host key or permission
    kCorrupt = 6,
    kTooNew = 7,
    kExhausted = 8, ///< disk full, out of memory

    // A rank's own endings. None of these is a crash.
    kPeerLost = 20,  ///< a collective failed because another rank went away
    kPaused = 21,    ///< checkpoint written, resources freed, by command
    kStopped = 22,   ///< ended by command
    kPreempted = 23, ///< SIGTERM or SIGUSR1: checkpoint written, then ended
    kNonFinite = 24, ///< loss or gradients became NaN or infinite
    kRunFailed = 25, ///< `ringmaster run --wait`: the run ended as failed
    kSpiked = 26,    ///< loss or gradients rose suddenly, and train.on_spike ended the run
};

/// The name that the UI shows instead of the number: "ok", "peer lost", ... 128 + N is "killed by
/// SIG...", as in shells and our records. Unknown values give "unknown".
std::string exitCodeName(int code);

/// "SIGKILL", or "signal 34" if it has no name, by Linux's numbers.
std::string signalName(int signal);

/// The exit code with which a program reports `error`.
ExitCode exitCodeFor(ErrorCode code);

} // namespace rm
