// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/ssh_link.h"
#include "shared/io/descriptor.h"

#include <string>
#include <vector>

namespace rm {

/// Connects to the first of these addresses (as numbers) that answers: each gets a quarter of a
/// second before the next one is tried beside it (RFC 8305), so that a name whose IPv6 address
/// leads nowhere is reached by its IPv4 one. `from`: those of this computer to connect
/// from, one of each family; empty: any. The socket does not block, and has TCP_NODELAY.
/// kUnavailable: none answered; the message is that of connect(2) for the last one that said
/// something, as libssh would put it ("Failed to connect: Connection refused").
Result<Descriptor> connectToAny(const std::vector<std::string>& addresses, unsigned port,
                                const std::vector<std::string>& from, const Patience& patience);

} // namespace rm
