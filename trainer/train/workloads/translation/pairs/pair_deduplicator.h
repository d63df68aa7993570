// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/translation/pairs/pair.h"

#include <unordered_set>

namespace rm {

/// Tells pairs that were there before, by 64 bits of hash: among ten million, one is taken wrongly
/// for another once in three hundred thousand corpora.
class PairDeduplicator {
public:
    /// Whether it is new; it is known from then on.
    bool add(const Pair& pair);

private:
    std::unordered_set<uint64_t> m_hashes;
};

/// 0 to 1, evenly spread, from the source alone: the same sentence never lands on both sides of a
/// cut through a corpus, whatever its translation.
double shareOf(std::string_view source);

} // namespace rm
