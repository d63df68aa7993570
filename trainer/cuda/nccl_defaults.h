// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rm {

/// How NCCL's process group shall be watched, as environment variables that torch reads:
/// collectives that fail or hang end the process without waiting for the device, and what each rank
/// did last is kept and written to `traceFolder`/nccl-trace-rank-N (torch's flight recorder, read
/// by `torchfrtrace`). Nothing is written when `traceFolder` is empty.
std::vector<std::pair<std::string, std::string>> ncclDefaults(const std::string& traceFolder);

/// Sets those that are not set yet: what the user chose stays.
void applyNcclDefaults(const std::string& traceFolder);

} // namespace rm
