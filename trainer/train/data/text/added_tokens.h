// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/json.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rm {

/// A token that is searched for literally, before anything is merged.
struct AddedToken {
    std::string content;
    int32_t id = 0;
    bool isNormalized = false; ///< searched for in the normalized text
};

/// The added_tokens of a tokenizer.json. kInvalid for lstrip, rstrip and single_word, and for ids
/// that `tokenizers` would not assign: the id of the model's token with this text, else the next
/// after the model's.
Result<std::vector<AddedToken>>
readAddedTokens(const Json& list, const std::unordered_map<std::string, int32_t>& vocab);

/// Finds tokens in a text: the leftmost, and the longest of those that begin there.
class TokenFinder {
public:
    explicit TokenFinder(std::vector<AddedToken> tokens);

    using Part = std::function<Result<void>(std::string_view text, const AddedToken* token)>;
    /// Calls `each` with all parts of `text`, in order; `token` is nullptr for the text between
    /// tokens, which is never empty.
    Result<void> forEachPart(std::string_view text, const Part& each) const;

private:
    const AddedToken* longestAt(std::string_view text) const;

    std::vector<AddedToken> m_tokens; ///< by content
    std::array<bool, 256> m_begins{}; ///< some token begins with this byte
};

} // namespace rm
