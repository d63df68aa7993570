// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/remote/ssh_link.h"

#include <string>

namespace rm {

// The one place that interprets libssh's codes and messages.

/// The session's last failure after the key exchange, as an error of `attempt`.
Error sshError(const SshLink& link, const std::string& attempt);

/// The same for a connection that failed before.
ConnectFailure connectFailure(const SshLink& link, const std::string& attempt);

/// The failure of a connection whose socket could not be connected: `said` as connectToAny() says.
ConnectFailure socketFailure(const std::string& attempt, const std::string& said);

/// The error of a host that did not answer in time: what its silence means where its banner, a
/// small packet, had come and the large ones behind it did not; else `error`.
Error silenceOf(const SshLink& link, const std::string& attempt, const Error& error);

} // namespace rm
