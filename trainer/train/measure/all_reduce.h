// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/measures.h"
#include "trainer/train/device/device.h"
#include "trainer/train/dist/world.h"

#include <chrono>
#include <vector>

namespace rm {

/// Times all-reduces of float32 over the ranks of a world, from 4 bytes to 64 MiB, by the process
/// group that training uses. A size that would exceed what is left of `budget` is left out, and
/// those above it; at least two are measured. All ranks call it together; rank 0's times are given.
std::vector<SumTime> timeSums(const World& world, const Device& device,
                              std::chrono::duration<double> budget);

/// timeSums() of each pair of nodes, one pair after the other, and then of all. `nodeOf`: by rank,
/// ascending. All ranks call it together; the report is rank 0's.
AllReduceReport measureLinks(const World& world, const Device& device,
                             const std::vector<int>& nodeOf, std::chrono::duration<double> budget);

} // namespace rm
