// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/remote/memory_file.h"
#include "app/core/remote/ssh_link.h"
#include "app/core/remote/ssh_tokens.h"

#include <optional>
#include <string>

namespace rm {

/// The program that libssh starts to get to a host: a jumpCommand() for a ProxyJump, of ssh_config
/// or of a node, or a person's ProxyCommand. Its tokens are expanded here, as libssh does not know
/// all of OpenSSH's; what it writes to stderr is kept for failure(). One of a ProxyJump must not
/// ask questions, which nobody could answer. Create it after ssh_config was read and before the
/// first ssh_connect(), and keep it until the connection is made or has failed.
class Proxy {
public:
    Proxy(SshLink& link, const SshTokens& tokens);

    bool isThere() const { return !m_command.empty(); }

    /// Why it did not get to the host, with what helps, as a failure of `attempt`. `isSilent`:
    /// nobody has refused anything, so that what it said counts only where it is known to tell why.
    /// nullopt: there is no proxy, or it seems to have got there; then libssh knows more.
    std::optional<ConnectFailure> failure(const SshLink& link, const std::string& attempt,
                                          bool isSilent) const;

private:
    std::string m_command; ///< as a person knows it; empty: there is none
    bool m_isJump = false;
    MemoryFile m_log;
};

} // namespace rm
