// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/ssh_link.h"

#include <QTemporaryFile>

namespace rm {

/// Changes the ssh(1) command that libssh starts for a ProxyJump of ssh_config: it must not ask
/// questions, which nobody could answer, and it writes its errors to a file that complaint() reads.
/// Any other proxy command is not changed. Create it after ssh_config was read and before the first
/// ssh_connect(), and keep it until the connection is made or has failed.
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
