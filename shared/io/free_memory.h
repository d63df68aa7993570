// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace rm {

/// Bytes of this machine's memory that processes can still have: what the kernel calls available,
/// or less where a control group (a container, a batch system's job) leaves less. `root`: what
/// stands for "/", for tests. 0: the kernel does not tell.
int64_t freeHostBytes(const std::string& root = "");

/// Of this process, in memory now: programs and libraries, and what it allocated.
int64_t programBytes();
int64_t heapBytes();
/// Of this process, in memory or not yet: what RLIMIT_DATA counts.
int64_t dataBytes();

} // namespace rm
