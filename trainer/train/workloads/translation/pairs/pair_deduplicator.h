// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/translation/pairs/pair.h"

#include <unordered_set>

namespace rm {

/// Recognizes repeated pairs by a 64-bit hash. With ten million pairs a false match occurs in one
/// of three hundred thousand corpora.
class PairDeduplicator {
public:
    /// Adds the pair; returns whether it is new.
    bool add(const Pair& pair);

private:
    std::unordered_set<uint64_t> m_hashes;
};

/// A number from 0 to 1, uniformly distributed, that depends on the source only, so that a split of
/// a corpus never has the same source sentence on both sides.
double shareOf(std::string_view source);

} // namespace rm
