// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/measures.h"
#include "trainer/train/device/device.h"
#include "trainer/train/dist/world.h"

#include <chrono>
#include <utility>
#include <vector>

namespace rm {

/// The time that a group may take for its sums.
struct SumBudget {
    std::chrono::duration<double> whole{};
    /// Sums up to this size are made even beyond `whole`, if all together take no longer than
    /// `least`: smaller sums show latency and no rate.
    int64_t leastBytes = 0;
    std::chrono::duration<double> least{};
};
/// Whether there is time, after `passed`, for two sums of `bytes` of about `expected` each.
bool fits(const SumBudget& budget, std::chrono::duration<double> passed, int64_t bytes,
          std::chrono::duration<double> expected);

/// Times all-reduces of float32 over the ranks of a world, from 4 bytes to 64 MiB, by the process
/// group that training uses. A size that does not fit is left out, and those above it; at least two
/// are measured. All ranks call it together; rank 0's times are given.
std::vector<SumTime> timeSums(const World& world, const Device& device, const SumBudget& budget);

/// Each pair of `count` things once, in rounds in which each thing is in one pair at most, as in a
/// round-robin tournament. In each pair the lower one comes first.
std::vector<std::vector<std::pair<size_t, size_t>>> roundsOfPairs(size_t count);

/// timeSums() of each pair of nodes, with the pairs of a round at the same time, in about half of
/// `budget`, then of all ranks, in the other half. The report has the pairs, then all. `nodeOf`: by
/// rank, ascending. All ranks call it together; the report is rank 0's.
AllReduceReport measureLinks(const World& world, const Device& device,
                             const std::vector<int>& nodeOf, std::chrono::duration<double> budget);

} // namespace rm
