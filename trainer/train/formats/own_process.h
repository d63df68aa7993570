// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// Runs this program again with `arguments` and waits for it. If it fails, the error is the last
/// line of its stderr (without "error: ") with the code of its exit code, or kCorrupt with the
/// signal that ended it.
Result<void> runOwnProgram(const std::vector<std::string>& arguments, const std::string& attempt);

} // namespace rm
