// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/ssh_address.h"
#include "app/core/remote/ssh_link.h"

#include <QTemporaryFile>

namespace rm {

/// The proxy command that passes these hosts on the way, as OpenSSH makes it of a ProxyJump: ssh to
/// the last of them, through the others. At least one; each has passed checkNode() or ssh's reader.
std::string jumpCommand(const std::vector<SshAddress>& jumps);

/// The hosts that a jumpCommand() passes, "outer,me@gate:2222"; empty: it is another command.
std::string jumpHostsIn(const std::string& proxyCommand);

/// Changes the jumpCommand() that libssh starts for a ProxyJump, of ssh_config or of a node: it
/// must not ask questions, which nobody could answer, and it writes its errors to a file that
/// complaint() reads. Any other proxy command is not changed. Create it after ssh_config was read
/// and before the first ssh_connect(), and keep it until the connection is made or has failed.
class JumpHost {
public:
    explicit JumpHost(SshLink& link);

    /// Why the jump host could not be passed, and what helps. Empty: no jump host, or no error from
    /// it.
    std::string complaint();

private:
    QTemporaryFile m_log;
};

} // namespace rm
