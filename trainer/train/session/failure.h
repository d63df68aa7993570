// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/world.h"
#include "trainer/train/session/ending.h"

#include <exception>
#include <string>

namespace rm {

/// How a rank ends on an exception: peer lost, out of memory, or a fault of ours.
Ending endingOf(const std::exception& error);
Ending endingOf(const Error& error);

/// Says on stderr and in `runDir`/failure-rank-NNNNN.json why this rank failed.
void reportFailure(const Ending& ending, const TorchrunEnvironment& environment,
                   const std::string& runDir);

/// Whether the agent shall take it as a failure rather than as an ending that was asked for.
bool isFailure(ExitCode code);

} // namespace rm
