// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace rm {

/// The names after `Host` in an ssh_config and the files that it includes, in their order, each
/// once, without patterns; not each can be a node. They only fill a list to choose from: what the
/// file says of one is OpenSSH's to read (ssh_config.h). A missing file gives an empty list.
std::vector<std::string> sshAliasesOf(const std::string& configFile);

/// The aliases in ~/.ssh/config.
std::vector<std::string> sshAliases();

} // namespace rm
