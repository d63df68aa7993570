// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace rm {

/// Where a process of ours is now, for people: a line for its first thread and one for each thread
/// of autograd, the innermost function first, then what the kernel does for it.
///
///     main: c10d::Work::wait < rm::World::sum < rm::TrainLoop::run < main
///     pt_autograd_0: ...
///     kernel: futex_wait_queue
///
/// Stops the threads for some milliseconds by ptrace(2), with libdwfl, and waits until they have
/// stopped: to be called in a process that may be killed. Where that is not allowed, the line says
/// why and the kernel's remains.
std::string stackOf(pid_t pid);

/// "rm::A<int>::f(int) const" -> "rm::A::f". `symbol` is mangled, or a name of C.
std::string shortFunctionName(const char* symbol);

} // namespace rm
