// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/remote/ssh_link.h"

namespace rm {

/// Checks the key of a connected host before anything is sent to it. An unknown key is written to
/// known_hosts only if it equals `trusted`; a changed key is always refused, and a known one if
/// `trusted` is another.
tl::expected<void, ConnectFailure> checkHostKey(SshLink& link,
                                                const std::optional<std::string>& trusted);

} // namespace rm
