// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store.h"

namespace rm {

const char* runStateName(RunStateKind state) {
    switch (state) {
    case RunStateKind::kPreparing:
        return "preparing";
    case RunStateKind::kRunning:
        return "running";
    case RunStateKind::kPaused:
        return "paused";
    case RunStateKind::kFinished:
        return "finished";
    case RunStateKind::kStopped:
        return "stopped";
    case RunStateKind::kFailed:
        return "failed";
    case RunStateKind::kPreempted:
        return "preempted";
    }
    return "failed";
}

const char* runStateName(const RunSummary& run) {
    return run.held ? "held" : runStateName(run.state);
}

} // namespace rm
