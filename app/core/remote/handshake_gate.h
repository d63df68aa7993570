// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/ssh_link.h"

#include <memory>
#include <string>

namespace rm {

/// Limits this process to eight simultaneous logins on one server or through one jump host: sshd
/// drops further ones (MaxStartups 10:30:100), and a run may have 64 nodes.
class HandshakeGate {
public:
    static constexpr int kAtOnce = 8;

    /// Waits for a turn on `server` (any text that identifies it). The turn ends when the returned
    /// object is destroyed. kUnavailable: the deadline passed or a stop was requested. Any thread.
    static Result<std::shared_ptr<void>>
    enter(const std::string& server, const std::string& attempt, const Patience& patience);
};

} // namespace rm
