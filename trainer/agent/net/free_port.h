// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace rm {

/// A TCP port of that address of this machine to which nobody listens: `wanted` if it is free,
/// or if no other can be found.
int64_t freePortOn(const std::string& address, int64_t wanted);

} // namespace rm
