// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"

#include <string>

namespace rm {

/// How far the end of an attempt on one node is from the cause of its end on all: the lowest is
/// what a person is to be told. A lost peer is only the consequence of what happened on another
/// node, which failed or was stopped, killed, preempted or paused.
int distanceFromCause(const AttemptEnded& end);

/// The end of an attempt whose run ends as a person asked (`outcome`, and `how` says it). How its
/// ranks had failed before that stays beside it: the rank and its exit code.
AttemptEnded endedOnRequest(AttemptEnded end, Outcome outcome, const std::string& how);
/// Whether it is such an end, of ranks that had failed.
bool isRequestAfterFailure(const AttemptEnded& end);

} // namespace rm
