// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/remote/ssh_link.h"

#include <string>

namespace rm {

// The one place that reads libssh's codes and words.

/// The session's last failure, as an error of `attempt`, once keys are agreed on.
Error sshError(const SshLink& link, const std::string& attempt);

/// The same for a connection that did not come about.
ConnectFailure connectFailure(const SshLink& link, const std::string& attempt);

} // namespace rm
