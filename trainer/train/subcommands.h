// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <optional>
#include <string>

namespace rm {

/// Something that `ringmaster-trainer NAME ...` does besides training.
struct Subcommand {
    const char* name;
    const char* summary;                        ///< nullptr: not listed in --help
    Result<void> (*run)(int argc, char** argv); ///< argv[0] is the name; may throw
};

/// Runs the subcommand that argv[1] names, prints its error to stderr and returns the exit code.
/// nullopt: argv[1] is not a subcommand.
std::optional<int> runSubcommand(int argc, char** argv);

/// The subcommands for --help, one a line.
std::string subcommandsHelp();

} // namespace rm
