// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/measures.h"
#include "trainer/train/device/device.h"
#include "trainer/train/dist/world.h"

#include <chrono>
#include <utility>
#include <vector>

namespace rm {

/// For how long a group sums.
struct SumBudget {
    std::chrono::duration<double> whole{};
    /// So large a sum at least, if that takes no longer in all than `least`, whatever `whole` is:
    /// what smaller ones take is latency and tells no rate.
    int64_t leastBytes = 0;
    std::chrono::duration<double> least{};
};
/// Whether a sum of `bytes` is measured, which is expected to take so long, twice at least.
bool fits(const SumBudget& budget, std::chrono::duration<double> passed, int64_t bytes,
          std::chrono::duration<double> expected);

/// Times all-reduces of float32 over the ranks of a world, from 4 bytes to 64 MiB, by the process
/// group that training uses. A size that does not fit is left out, and those above it; at least two
/// are measured. All ranks call it together; rank 0's times are given.
std::vector<SumTime> timeSums(const World& world, const Device& device, const SumBudget& budget);

/// Each pair of `count` things once, in rounds in which each is in one pair at most: as many rounds
/// as a tournament has in which all play each other. In each pair the lower one comes first.
std::vector<std::vector<std::pair<size_t, size_t>>> roundsOfPairs(size_t count);

/// timeSums() of each pair of nodes, those of a round at the same time, which takes about half of
/// `budget`, and then of all, which has the other. Of pairs and all, in this order. `nodeOf`: by
/// rank, ascending. All ranks call it together; the report is rank 0's.
AllReduceReport measureLinks(const World& world, const Device& device,
                             const std::vector<int>& nodeOf, std::chrono::duration<double> budget);

} // namespace rm
