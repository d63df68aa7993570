// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/remote/ssh_link.h"

namespace rm {

/// Judges the key that a connected host showed, before anything is sent to it. Unknown keys are
/// written to known_hosts only when they are exactly `trustedFingerprint`; a changed key is final.
tl::expected<void, ConnectFailure> checkHostKey(SshLink& link,
                                                const std::optional<std::string>& trusted);

} // namespace rm
