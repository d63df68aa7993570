// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// Does what the command line asks: a fixed word and fixed arguments; data comes over stdin, the
/// answer goes to stdout as JSON. kInvalid with the usage when the words are wrong.
Result<void> runSubcommand(const std::vector<std::string>& arguments);

} // namespace rm
