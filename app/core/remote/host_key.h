// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/remote/known_hosts.h"
#include "app/core/remote/ssh_link.h"

namespace rm {

/// What a person, and ssh_config, say about keys that are not known.
struct HostKeyWish {
    std::optional<std::string> trusted; ///< Credentials::trustedFingerprint
    std::string unasked;                ///< SshConfig::HostKeys::unasked
};

/// Checks the key of a connected host before anything is sent to it. An unknown key is added to
/// `known` only if it equals the trusted one; a changed or revoked key is always refused, and a
/// known one if the trusted one is another.
tl::expected<void, ConnectFailure> checkHostKey(SshLink& link, KnownHosts& known,
                                                const HostKeyWish& wish,
                                                const std::stop_token& stop);

} // namespace rm
