// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/json.h"
#include "trainer/train/data/text/regex.h"

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace rm {

/// Cuts a text into words, as the pre_tokenizer of a tokenizer.json says; tokens are never merged
/// across words. Supported: ByteLevel, alone or at the end of a Sequence of Split and Digits.
class PreTokenizer {
public:
    static Result<PreTokenizer> parse(const Json& json);

    using Word = std::function<void(std::string_view word)>;
    /// Calls `each` with every word of `text`, which must be valid UTF-8, in order. A word is valid
    /// during the call only.
    Result<void> forEachWord(std::string_view text, const Word& each) const;

private:
    struct Split {
        Regex pattern;
        std::optional<bool> removed; ///< the spans that are left out: the matches or all others
    };

    Result<void> add(const Json& json, const std::string& path);
    Result<void> addSplit(const Json& json, const std::string& path);
    Result<void> addDigits(const Json& json, const std::string& path);
    Result<void> addByteLevel(const Json& json, const std::string& path);
    Result<void> cut(size_t step, std::string_view text, const Word& each) const;

    std::vector<Split> m_splits;
    bool m_addsSpace = false; ///< before each part that ByteLevel gets
    bool m_isByteLevel = false;
    size_t m_spaceBefore = 0; ///< index of the step before which it is added
};

} // namespace rm
