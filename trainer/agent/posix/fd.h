// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/descriptor.h"

#include <string>

namespace rm {

/// One read(2): what is there now, at least one byte; 0 at the end.
Result<size_t> readAvailable(int fd, std::span<std::byte> buffer, const std::string& what);

/// Reads to the end; more than `maxBytes` is kInvalid. `what` is for messages.
Result<std::string> readToEnd(int fd, size_t maxBytes, const std::string& what);

/// Writes everything to a blocking descriptor.
Result<void> writeText(int fd, const std::string& text, const std::string& what);

} // namespace rm
