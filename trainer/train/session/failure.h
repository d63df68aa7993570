// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/world.h"
#include "trainer/train/session/ending.h"

#include <exception>
#include <string>

namespace rm {

/// The exit code for an exception: peer lost, out of memory, or an internal error.
Ending endingOf(const std::exception& error);
Ending endingOf(const Error& error);

/// Says on stderr and in `runDir`/failure-rank-NNNNN.json why this rank failed.
void reportFailure(const Ending& ending, const TorchrunEnvironment& environment,
                   const std::string& runDir);

/// Whether the exit code is a failure, and not an ending that was requested.
bool isFailure(ExitCode code);

} // namespace rm
