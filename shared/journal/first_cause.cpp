// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/first_cause.h"

#include "shared/exit_code.h"

namespace rm {

int distanceFromCause(const AttemptEnded& end) {
    switch (end.outcome) {
    case Outcome::kFailed:
        return end.exitCode == static_cast<int>(ExitCode::kPeerLost) ? 4 : 0;
    case Outcome::kPreempted:
        return 1;
    case Outcome::kStopped:
        return 2;
    case Outcome::kPaused:
        return 3;
    case Outcome::kFinished:
        return 5;
    }
    return 0;
}

AttemptEnded endedOnRequest(AttemptEnded end, Outcome outcome, const std::string& how) {
    const bool isFailure = outcome == Outcome::kFailed; // its reason is all that there is to say
    if (isFailure || end.outcome != Outcome::kFailed) {
        end.firstFailedRank = -1;
        end.exitCode = 0;
    }
    end.outcome = outcome;
    end.message = how;
    return end;
}

bool isRequestAfterFailure(const AttemptEnded& end) {
    return (end.outcome == Outcome::kPaused || end.outcome == Outcome::kStopped) &&
           end.exitCode != 0;
}

} // namespace rm
