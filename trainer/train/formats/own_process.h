// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// Runs this program again with `arguments` and waits for it. Its failure is the error: its last
/// line on stderr (without "error: ") under the code that its exit code stands for, or the signal
/// that ended it, as kCorrupt.
Result<void> runOwnProgram(const std::vector<std::string>& arguments, const std::string& attempt);

} // namespace rm
