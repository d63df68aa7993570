// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

namespace rm {

/// The paths below `folder` that processes of this machine run, have mapped or open, or work in,
/// as far as this user may see it. `folder` must be absolute and without links.
std::set<std::string> openPathsBelow(const std::string& folder);

} // namespace rm
