// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/posix/fd.h"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// Identifies a process until the next boot; a pid alone may be reused.
struct ProcessId {
    int64_t pid = 0;        ///< 0: none
    int64_t startTicks = 0; ///< field 22 of /proc/PID/stat
    bool operator==(const ProcessId&) const = default;
};

/// pid 0 when there is no such process.
ProcessId identify(int64_t pid);

/// Whether any thread of exactly that process is left, with its files and locks. A zombie has none.
bool isAlive(const ProcessId& process);

/// Whether exactly that process is stopped, by SIGSTOP or a debugger; not by a child of this
/// process, which looks at its stack for a moment (stack.h).
bool isStopped(const ProcessId& process);

/// Whether exactly that process is stopped by a debugger.
bool isTraced(const ProcessId& process);

/// A pidfd of exactly that process; nothing when it is gone.
Descriptor openProcess(const ProcessId& process);

/// False when the process is gone.
bool sendSignal(const Descriptor& process, int signal);

/// Waits until the process is gone.
bool waitGone(const Descriptor& process, int64_t timeoutMs);

/// Starts a program in a session of its own, with nothing of ours open. It is not waited for: the
/// caller must have SIGCHLD ignored, so that it leaves no zombie.
Result<pid_t> spawnDetached(std::vector<std::string> command);

/// Names the machine; empty: it has no name (/etc/machine-id).
std::string machineId();

/// Differs after each boot of the machine.
std::string bootId();

} // namespace rm
