// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/ssh_link.h"

#include <QTemporaryFile>

namespace rm {

/// The ssh(1) that libssh starts to pass a ProxyJump of ssh_config, made to ask nothing, since
/// nobody could answer, and to leave its complaints here. Any other proxy command stays as it is.
/// To be made between the reading of ssh_config and ssh_connect(), and kept until that answered.
class JumpHost {
public:
    explicit JumpHost(SshLink& link);

    /// Why the way through failed, and what helps; empty: there is no such host, or no complaint.
    std::string complaint();

private:
    QTemporaryFile m_log;
};

} // namespace rm
