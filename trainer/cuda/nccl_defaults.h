// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rm {

/// Environment variables for the watchdog of torch's NCCL process group: collectives that fail or
/// hang end the process without waiting for the device, and torch's flight recorder writes each
/// rank's last collectives to `traceFolder`/nccl-trace-rank-N (read with `torchfrtrace`). Nothing
/// is written when `traceFolder` is empty.
std::vector<std::pair<std::string, std::string>> ncclDefaults(const std::string& traceFolder);

/// Sets those of ncclDefaults() that are not set yet, so that the user's values stay.
void applyNcclDefaults(const std::string& traceFolder);

} // namespace rm
