// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/first_cause.h"

#include "shared/exit_code.h"

namespace rm {

int distanceFromCause(const AttemptEnded& end) {
    switch (end.outcome) {
    case Outcome::kFailed:
        return end.exitCode == static_cast<int>(ExitCode::kPeerLost) ? 3 : 0;
    case Outcome::kPreempted:
        return 1;
    case Outcome::kStopped:
        return 2;
    case Outcome::kPaused:
        return 4;
    case Outcome::kFinished:
        return 5;
    }
    return 0;
}

} // namespace rm
