// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/pair_deduplicator.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rm {

bool PairDeduplicator::add(const Pair& pair) {
    const uint64_t source = XXH3_64bits(pair.source.data(), pair.source.size());
    return m_hashes.insert(XXH3_64bits_withSeed(pair.target.data(), pair.target.size(), source))
        .second;
}

double shareOf(std::string_view source) {
    constexpr double kHashes = 18446744073709551616.0; // 2^64
    return static_cast<double>(XXH3_64bits(source.data(), source.size())) / kHashes;
}

} // namespace rm
