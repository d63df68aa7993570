// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/node_report.h"
#include "shared/wire/virtual_interface.h"

#include <string>

namespace rm {

/// Addresses as NodeReport has them: IPv4 or IPv6, no zone.
bool isLinkLocalAddress(const std::string& address);
/// Whether hosts of the whole internet can have this address (IANA's special-purpose registries:
/// not private, shared, loopback, link-local, unique-local, documentation or multicast).
bool isPublic(const std::string& address);
inline bool isSix(const std::string& address) {
    return address.find(':') != std::string::npos;
}

bool isLoopback(const InterfaceReport& interface);

/// Other machines could reach it: it is up, no loopback, and means something without its
/// interface.
bool isForOthers(const InterfaceReport& interface);

} // namespace rm
