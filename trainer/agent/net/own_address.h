// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/net/socket_address.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// Hints at the address by which the other machines of a cluster reach this one.
struct OwnAddressHints {
    std::string interface;           ///< the one that a person chose; empty: none
    std::vector<std::string> ofName; ///< what this machine's name in the cluster means here
    std::string launcher;            ///< the address of the machine that launched; empty: not told
    std::string towardsLauncher;     ///< this machine's on the way to it; empty: there is no way
    std::vector<InterfaceAddress> interfaces; ///< of this machine
};

/// An address of the chosen interface. Else what the name means, as clusters need names that mean
/// the same everywhere; where that is loopback (Debian's 127.0.1.1), the one towards the machine
/// that launched, then that of an interface, those of containers and virtual machines last.
/// 127.0.0.1: there is none.
std::string ownAddress(const OwnAddressHints& hints);

/// The address from which this machine sends to that one, by its routes; nullopt: there is no way.
std::optional<SocketAddress> sourceTowards(const std::string& address);

} // namespace rm
