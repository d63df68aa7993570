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

/// A token that is looked for in a text as it is, before anything is merged.
struct AddedToken {
    std::string content;
    int32_t id = 0;
    bool isNormalized = false; ///< is looked for when the text has been normalised
};

/// The added_tokens of a tokenizer.json. kInvalid for those that take white space beside them or
/// stand alone only (lstrip, rstrip, single_word), and for ids other than `tokenizers` would give:
/// that of the model's token of this text, else the next behind the model's.
Result<std::vector<AddedToken>>
readAddedTokens(const Json& list, const std::unordered_map<std::string, int32_t>& vocab);

/// Finds tokens in a text: the leftmost, and the longest of those that begin there.
class TokenFinder {
public:
    explicit TokenFinder(std::vector<AddedToken> tokens);

    using Part = std::function<Result<void>(std::string_view text, const AddedToken* token)>;
    /// Hands all parts of `text` to `each`, in order; `token` is nullptr for what lies between
    /// tokens, which is never empty.
    Result<void> forEachPart(std::string_view text, const Part& each) const;

private:
    const AddedToken* longestAt(std::string_view text) const;

    std::vector<AddedToken> m_tokens; ///< by content
    std::array<bool, 256> m_begins{}; ///< some token begins with this byte
};

} // namespace rm
