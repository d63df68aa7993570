// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/ssh_link.h"

#include <functional>
#include <string>

namespace rm {

/// Asks for the addresses of a host: 0 or an EAI_ code of getaddrinfo(). Blocks as long as it
/// likes.
using HostLookup = std::function<int(const std::string& host)>;

int lookUpHost(const std::string& host);

/// Waits until the system's resolver knows `host`. kUnavailable: it does not, or out of patience:
/// the resolver itself cannot be hurried, so the question is then left to end on a thread of its
/// own.
Result<void> awaitResolved(const std::string& host, const std::string& attempt,
                           const Patience& patience, const HostLookup& lookUp = &lookUpHost);

} // namespace rm
