// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>

namespace rm {

/// Bytes of a rank's log at which the agent empties it, so that a rank that prints without end
/// does not fill the disk.
inline constexpr uint64_t kMostLogBytes = uint64_t{1} << 30;

/// Empties a log that is larger than that, but for a first line that says so. Its readers go on
/// with that line (isCappedLog()). True: it was. The rank must append (O_APPEND).
Result<bool> capLog(const std::string& path, uint64_t most = kMostLogBytes);

/// Whether the log in `fd` begins with that line.
bool isCappedLog(int fd);

} // namespace rm
