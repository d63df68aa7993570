// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/node_report.h"

#include <string>

namespace rm {

/// Whether hosts of the whole internet can have this address (IANA's special-purpose registries:
/// not private, shared, loopback, link-local, unique-local, documentation or multicast).
bool isPublic(const std::string& address);

/// It is up, and other machines may have a route to it: neither loopback nor link-local.
bool isReachable(const InterfaceReport& interface);

/// The disk that a folder is on: the one with the longest mount point. nullptr: none was told.
const DiskReport* diskOf(const NodeReport& report, const std::string& folder);

} // namespace rm
