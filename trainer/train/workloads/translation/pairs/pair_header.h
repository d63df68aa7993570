// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace rm {

static_assert(std::endian::native == std::endian::little);

inline constexpr char kPairMagic[8] = {'R', 'M', 'P', 'A', 'I', 'R', 'S', '\0'};
inline constexpr uint32_t kPairVersion = 1;

/// The front of a `.rmpairs` file, as PAIRS.md has it.
struct PairHeader {
    char magic[8];
    uint32_t version;
    uint32_t itemBytes;
    uint64_t count;
    uint64_t items;
    uint64_t sourceVocab;
    uint64_t targetVocab;
    char sourceLanguage[16];
    char targetLanguage[16];
    uint64_t bodySum;
    uint64_t headerSum; ///< of all fields before it
};
static_assert(sizeof(PairHeader) == 96 && offsetof(PairHeader, headerSum) == 88);

} // namespace rm
