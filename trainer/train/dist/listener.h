// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/descriptor.h"
#include "shared/result.h"

#include <chrono>
#include <string>

namespace rm {

/// True once a server listens at this port of the host; false: none does after `patience`. A
/// host that cannot be found is left to the connection that follows. A c10d::TCPStore
/// that is refused waits half a second or more before it tries again, and ranks that start together
/// are often a few milliseconds ahead of rank 0.
bool awaitListener(const std::string& host, int port, std::chrono::milliseconds patience);

/// Listens at this port of the one address of this machine that `host`, a name or an IPv4 or IPv6
/// address, stands for, so that no other network reaches the port. `isOneMachine`: all ranks are on
/// this machine, so a loopback address will do, whatever name led to it. "::" is every address of
/// this machine, those of IPv4 too.
///
/// kNotFound: `host` stands for no address of this machine (behind NAT), or other machines may
/// resolve it to another address. kUnavailable: the port is taken there.
Result<Descriptor> listenAt(const std::string& host, int port, bool isOneMachine);

/// "10.0.0.1:29500", "[fd00::1]:29500"
std::string placeName(const std::string& host, int port);

} // namespace rm
