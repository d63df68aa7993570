// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/json.h"
#include "trainer/train/data/text/regex.h"

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace rm {

/// Cuts a text into words, across whose borders no tokens are merged, as the pre_tokenizer of a
/// tokenizer.json says: ByteLevel, alone or as the last of a Sequence behind Split and Digits.
class PreTokenizer {
public:
    static Result<PreTokenizer> parse(const Json& json);

    using Word = std::function<void(std::string_view word)>;
    /// Hands every word of `text`, which is valid UTF-8, to `each`, in order. A word lives as long
    /// as the call of `each`.
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
    bool m_addsSpace = false; ///< in front of each part that ByteLevel gets
    bool m_isByteLevel = false;
    size_t m_spaceBefore = 0; ///< the step in front of which that is
};

} // namespace rm
