// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace rm {

// The units of all texts of window, terminal, agent and trainer. What lies on disks and goes
// through networks is counted by 1000, as disks, links and `df -H` are; memory of machines and
// GPUs, and what lives in it, by 1024, as nvidia-smi and `free -h` count it. The window's
// app/ui/look/format.h has the same two with its own spaces.

std::string bytesWords(int64_t bytes);  ///< "329 MB", "1.2 GB"
std::string memoryWords(int64_t bytes); ///< "139.8 GiB", "64.0 MiB"

} // namespace rm
