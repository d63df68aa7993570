// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/json.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rm {

/// All ids of a vocabulary must be below this.
inline constexpr int64_t kMostTokens = 1 << 20;

/// The `model` of a tokenizer.json of type BPE whose smallest tokens are bytes, each spelt as
/// GPT-2's visible character for it. Any thread.
class BytePairs {
public:
    static Result<BytePairs> parse(const Json& model);

    /// Token texts, spelt as in the file, and their ids.
    const std::unordered_map<std::string, int32_t>& vocab() const { return m_ids; }

    /// Appends the tokens of one word. Of all possible merges of neighbours the one that is first
    /// in the file is made first, from left to right; this takes O(n log n). A byte without a token
    /// in the vocabulary is left out, as in `tokenizers`.
    void encode(std::string_view word, std::vector<int32_t>& ids) const;

private:
    struct Merge {
        uint32_t rank;
        int32_t id; ///< of the merged token
    };
    const Merge* mergeOf(int32_t left, int32_t right) const;
    Result<void> readVocab(const Json& vocab);
    Result<void> readMerges(const Json& merges);
    Result<void> readMerge(const Json& merge, uint32_t rank);
    std::optional<int32_t> wholeWord(std::string_view word) const;

    std::unordered_map<std::string, int32_t> m_ids;
    std::unordered_map<uint64_t, Merge> m_merges; ///< by both ids
    std::array<int32_t, 256> m_bytes{};           ///< their ids; -1: none
    bool m_ignoresMerges = false;                 ///< a word that is a token stays whole
};

} // namespace rm
