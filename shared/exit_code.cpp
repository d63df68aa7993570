// SPDX-License-Identifier: Apache-2.0
#include "shared/exit_code.h"

#include <array>

namespace rm {

namespace {

const char* ownName(int code) {
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
    case ExitCode::kSpiked:
        return "loss spiked";
    }
    return nullptr;
}

// As a shell reports a program that a signal ended.
constexpr int kOfSignal = 128;
constexpr int kLastSignal = 64;

} // namespace

std::string signalName(int signal) {
    // Linux's numbers, since ranks run on Linux.
    static constexpr std::array kNames = {
        "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1", "SEGV",
        "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN", "TTOU",
        "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "POLL", "PWR",  "SYS"};
    if (signal < 1 || static_cast<size_t>(signal) > kNames.size())
        return "signal " + std::to_string(signal);
    return std::string("SIG") + kNames[static_cast<size_t>(signal) - 1];
}

std::string exitCodeName(int code) {
    if (const char* name = ownName(code))
        return name;
    if (code > kOfSignal && code <= kOfSignal + kLastSignal)
        return "killed by " + signalName(code - kOfSignal);
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
