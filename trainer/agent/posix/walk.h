// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <sys/stat.h>

#include <functional>
#include <string>

namespace rm {

/// Told of one thing in a folder, as lstat() sees it. True: go on with what is in it, if it is a
/// folder.
using Visit = std::function<Result<bool>(const std::string& path, const struct stat& info)>;

/// Shows what lies in `folder`, each folder before what is in it; no link is followed. What goes
/// meanwhile is passed over, `folder` itself, too: a run that trains removes files at any time.
Result<void> walk(const std::string& folder, const Visit& visit);

} // namespace rm
