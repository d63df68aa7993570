// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace rm {

/// Returns once a server listens at this port of the host, or after `patience`. A c10d::TCPStore
/// that is refused waits half a second or more before it tries again, and ranks that start together
/// are often a few milliseconds ahead of rank 0.
void awaitListener(const std::string& host, int port, std::chrono::milliseconds patience);

} // namespace rm
