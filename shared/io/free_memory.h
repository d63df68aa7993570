// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace rm {

/// Bytes of memory that processes can still allocate: MemAvailable, or less if a control group (a
/// container, a Slurm job) leaves less. `root` replaces "/" in tests. 0: the kernel does not say.
int64_t freeHostBytes(const std::string& root = "");

/// Resident memory of this process: programs and libraries, and what it allocated.
int64_t programBytes();
int64_t heapBytes();
/// Data memory of this process, resident or not, as RLIMIT_DATA counts it.
int64_t dataBytes();

} // namespace rm
