// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// Where a server of SSH is, as a person writes it: "[USER@]HOST[:PORT]", an IPv6 address with a
/// port in brackets.
struct SshAddress {
    std::string user; ///< empty: not given
    std::string host;
    int port = 0; ///< 0: not given
    bool operator==(const SshAddress&) const = default;
};

/// kInvalid of `attempt`: the port is none. Host and user are taken as they are: checkNode().
Result<SshAddress> parseSshAddress(const std::string& text, const std::string& attempt);

/// "me@gate:2222"
std::string toText(const SshAddress& address);

/// The hosts on the way to a node, the one that is passed first before the others, as ssh_config's
/// ProxyJump has them: "outer,me@inner:2222". kInvalid of `attempt`: as parseSshAddress().
Result<std::vector<SshAddress>> parseJumpHosts(const std::string& text, const std::string& attempt);

} // namespace rm
