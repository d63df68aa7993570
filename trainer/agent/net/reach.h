// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// `listen`: accepts and closes connections on one port of every address of this machine, so that
/// other nodes can find out by dialReport() which of them they reach. Prints {"port": P} on
/// `outputFd` once it listens; ends after `seconds` or when `inputFd` closes. Port 0: a free one.
Result<void> listenForDials(int seconds, int port, int inputFd, int outputFd);

/// `dial ADDR:PORT...`: tries every address at once, each for at most `timeoutMs`. IPv6 may stand
/// in brackets. A JSON array in the order of `targets`, each {"address", "reached", "interface",
/// "local_address", "microseconds", "error"}.
Result<std::string> dialReport(const std::vector<std::string>& targets, int64_t timeoutMs = 2000);

} // namespace rm
