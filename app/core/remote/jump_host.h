// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/ssh_address.h"

#include <string>
#include <vector>

namespace rm {

/// The proxy command that passes these hosts on the way, as OpenSSH makes it of a ProxyJump: ssh to
/// the last of them, through the others. At least one; each has passed checkNode() or ssh's reader.
std::string jumpCommand(const std::vector<SshAddress>& jumps);

/// The hosts that a jumpCommand() passes, "outer,me@gate:2222"; empty: it is another command.
std::string jumpHostsIn(const std::string& proxyCommand);

} // namespace rm
