// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"

namespace rm {

/// How far the end of an attempt on one node is from the cause of its end on all: the lowest is
/// what a person is to be told. A lost peer is only the consequence of what happened on another
/// node, which failed or was stopped, killed or preempted.
int distanceFromCause(const AttemptEnded& end);

} // namespace rm
