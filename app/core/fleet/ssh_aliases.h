// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace rm {

/// The names after `Host` in an ssh_config and the files that it includes, in their order, each
/// once; no patterns, and no name that a node could not have as its host. Only for a list to pick
/// from: libssh reads the file when it connects. A missing file has none.
std::vector<std::string> sshAliasesOf(const std::string& configFile);

} // namespace rm
