// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <functional>
#include <string>

namespace rm {

/// sha256HexOfFile() for a file so large that others want to hear of the progress meanwhile:
/// `onRead` is told after each megabyte, or less at the end.
Result<std::string> sha256HexOfFile(const std::string& path, const std::function<void()>& onRead);

} // namespace rm
