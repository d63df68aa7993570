// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/ssh_link.h"

#include <memory>
#include <string>

namespace rm {

/// At most eight logins of this process are under way at once on one server, or through one jump
/// host: sshd turns further ones away (MaxStartups 10:30:100), and 64 nodes are many.
class HandshakeGate {
public:
    static constexpr int kAtOnce = 8;

    /// Waits for a turn on `server` (any text that tells servers apart), which lasts as long as the
    /// answer lives. kUnavailable: out of patience. Any thread.
    static Result<std::shared_ptr<void>>
    enter(const std::string& server, const std::string& attempt, const Patience& patience);
};

} // namespace rm
