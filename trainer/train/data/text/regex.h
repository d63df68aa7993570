// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct re_pattern_buffer;

namespace rm {

/// A regular expression over UTF-8 by Oniguruma, which `tokenizers` uses too, so that syntax and
/// matches are the same. Its tables are of Unicode 14; newer letters and digits are not recognized
/// as such. Any thread.
class Regex {
public:
    /// kInvalid says what is wrong with the pattern. `isPlain`: it is a literal text.
    static Result<Regex> compile(const std::string& pattern, bool isPlain);

    using Span = std::function<Result<void>(std::string_view part, bool isMatch)>;
    /// Calls `each` with every match and every text between matches, in order; together they make
    /// up `text`, which must be valid UTF-8. Returns the error of `each`, or kInvalid when the
    /// pattern backtracks too often.
    Result<void> forEachSpan(std::string_view text, const Span& each) const;

private:
    explicit Regex(std::shared_ptr<re_pattern_buffer> compiled)
        : m_compiled(std::move(compiled)) {}

    std::shared_ptr<re_pattern_buffer> m_compiled;
};

} // namespace rm
