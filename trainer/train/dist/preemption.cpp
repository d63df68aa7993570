// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/preemption.h"

#include <algorithm>
#include <csignal>

namespace rm {

namespace {

constexpr int kPreemptionSignals[] = {SIGTERM, SIGUSR1};

} // namespace

// No handler: the kernel writes its frame below the stack pointer, which points into the heap
// during matrix products of oneDNN before 3.11.2 (uxlfoundation/oneDNN, issue 4845).
void catchPreemption() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : kPreemptionSignals)
        sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

bool isPreempted() {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    return std::ranges::any_of(
        kPreemptionSignals, [&pending](int signal) { return sigismember(&pending, signal) == 1; });
}

} // namespace rm
