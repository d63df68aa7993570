// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/ssh_link.h"

#include <functional>
#include <string>
#include <vector>

namespace rm {

/// What getaddrinfo() says of a host.
struct FoundAddress {
    int code = 0; ///< 0, or an EAI_ code
    /// As numbers, in the order in which they are to be tried: "10.0.0.7", "fe80::1%eth0".
    std::vector<std::string> addresses = {};
};

/// Looks up a host in a family (AF_UNSPEC: in any). Blocks without a limit.
using HostLookup = std::function<FoundAddress(const std::string& host, int family)>;

FoundAddress lookUpHost(const std::string& host, int family);

/// Waits until the system's resolver has found `host`; its addresses, at least one. kUnavailable:
/// it did not, the deadline passed, or a stop was requested. getaddrinfo() cannot be cancelled, so
/// the lookup then ends on a thread of its own.
Result<std::vector<std::string>> awaitResolved(const std::string& host, int family,
                                               const std::string& attempt, const Patience& patience,
                                               const HostLookup& lookUp = &lookUpHost);

} // namespace rm
