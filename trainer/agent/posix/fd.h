// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/descriptor.h"

#include <string>

namespace rm {

/// Reads to the end; more than `maxBytes` is kInvalid. `what` is for messages.
Result<std::string> readToEnd(int fd, size_t maxBytes, const std::string& what);

/// Writes everything to a blocking descriptor.
Result<void> writeText(int fd, const std::string& text, const std::string& what);

} // namespace rm
