// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct re_pattern_buffer;

namespace rm {

/// A regular expression over UTF-8 by Oniguruma, with which `tokenizers` searches too: the same
/// syntax and the same matches. Its Unicode tables are of Unicode 14: a letter or digit that is
/// younger counts as neither. Any thread.
class Regex {
public:
    /// kInvalid says what is wrong with the pattern. `isPlain`: it stands for itself.
    static Result<Regex> compile(const std::string& pattern, bool isPlain);

    using Span = std::function<Result<void>(std::string_view part, bool isMatch)>;
    /// Hands every match and what lies between two of them to `each`, in order; together they are
    /// `text`, which is valid UTF-8. Ends with the error of `each`, or with kInvalid where the
    /// pattern goes back and forth too often.
    Result<void> forEachSpan(std::string_view text, const Span& each) const;

private:
    explicit Regex(std::shared_ptr<re_pattern_buffer> compiled)
        : m_compiled(std::move(compiled)) {}

    std::shared_ptr<re_pattern_buffer> m_compiled;
};

} // namespace rm
