// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <unistd.h>

#include <string>

namespace rm {

// Functions for the subcommands that the app starts on a node to read their answers.

/// Ends this process when the reader of `output`, its stdout or stderr, closes the pipe, so that
/// nothing is left running after a cancelled launch, a lost link or the end of the process that
/// started it.
void endWithReader(int output = STDOUT_FILENO);

/// All of standard input.
std::string standardInput();

/// The checked spec in a file, or "-": on standard input.
Result<RunSpec> specFrom(const std::string& path);

} // namespace rm
