// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/ssh_link.h"

#include <functional>
#include <string>

namespace rm {

/// Looks up the addresses of a host: 0 or an EAI_ code of getaddrinfo(). Blocks without a limit.
using HostLookup = std::function<int(const std::string& host)>;

int lookUpHost(const std::string& host);

/// Waits until the system's resolver has found `host`. kUnavailable: it did not, the deadline
/// passed, or a stop was requested. getaddrinfo() cannot be cancelled, so the lookup then ends on a
/// thread of its own.
Result<void> awaitResolved(const std::string& host, const std::string& attempt,
                           const Patience& patience, const HostLookup& lookUp = &lookUpHost);

} // namespace rm
