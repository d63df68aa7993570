// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// Runs the subcommand on the command line. Data comes over stdin, the answer goes to stdout as
/// JSON. kInvalid with the usage when the arguments are wrong.
Result<void> runSubcommand(const std::vector<std::string>& arguments);

} // namespace rm
