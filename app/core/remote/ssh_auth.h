// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/remote/key_file.h"
#include "app/core/remote/ssh_link.h"

namespace rm {

/// Logs in on a link whose host key was checked. Tries the node's key file, the SSH agent and the
/// other key files, then the password if there is one.
tl::expected<void, ConnectFailure> authenticate(SshLink& link, const KeyFiles& keys,
                                                const Credentials& credentials,
                                                const Patience& patience);

} // namespace rm
