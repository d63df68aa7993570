// SPDX-License-Identifier: Apache-2.0
#include "shared/exit_code.h"

namespace rm {

const char* exitCodeName(int code) {
    switch (static_cast<ExitCode>(code)) {
    case ExitCode::kOk:
        return "ok";
    case ExitCode::kFailed:
        return "failed";
    case ExitCode::kUsage:
        return "usage";
    case ExitCode::kNotFound:
        return "not found";
    case ExitCode::kUnavailable:
        return "unavailable";
    case ExitCode::kDenied:
        return "denied";
    case ExitCode::kCorrupt:
        return "corrupt";
    case ExitCode::kTooNew:
        return "too new";
    case ExitCode::kExhausted:
        return "out of space";
    case ExitCode::kPeerLost:
        return "peer lost";
    case ExitCode::kPaused:
        return "paused";
    case ExitCode::kStopped:
        return "stopped";
    case ExitCode::kPreempted:
        return "preempted";
    case ExitCode::kNonFinite:
        return "non-finite loss";
    case ExitCode::kRunFailed:
        return "run failed";
    }
    return "unknown";
}

ExitCode exitCodeFor(ErrorCode code) {
    switch (code) {
    case ErrorCode::kInvalid:
        return ExitCode::kUsage;
    case ErrorCode::kNotFound:
        return ExitCode::kNotFound;
    case ErrorCode::kCorrupt:
        return ExitCode::kCorrupt;
    case ErrorCode::kTooNew:
        return ExitCode::kTooNew;
    case ErrorCode::kUnavailable:
        return ExitCode::kUnavailable;
    case ErrorCode::kDenied:
        return ExitCode::kDenied;
    case ErrorCode::kExhausted:
        return ExitCode::kExhausted;
    case ErrorCode::kInternal:
        return ExitCode::kFailed;
    }
    return ExitCode::kFailed;
}

} // namespace rm
