// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/regex.h"

#include "shared/return_if_error.h"

#include <oniguruma.h>

#include <mutex>
#include <optional>

namespace rm {
namespace {

constexpr size_t kMostPattern = 8192;              ///< bytes
constexpr unsigned long kMostRetries = 10'000'000; ///< of one search
constexpr unsigned kMostStack = 8'000'000; ///< entries: the white space that one match can take

const OnigUChar* bytesOf(std::string_view text) {
    return reinterpret_cast<const OnigUChar*>(text.data());
}

std::string messageOf(int code, OnigErrorInfo* info = nullptr) {
    OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN] = {};
    const int size =
        info ? onig_error_code_to_str(text, code, info) : onig_error_code_to_str(text, code);
    return {reinterpret_cast<const char*>(text), static_cast<size_t>(size)};
}

void prepareLibrary() {
    static std::once_flag once;
    std::call_once(once, [] {
        OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
        onig_initialize(encodings, 1);
    });
}

/// A search through one text.
class Search {
public:
    Search(regex_t* compiled, std::string_view text)
        : m_compiled(compiled)
        , m_text(text)
        , m_region(onig_region_new(), [](OnigRegion* region) { onig_region_free(region, 1); })
        , m_limits(onig_new_match_param(), &onig_free_match_param) {
        onig_initialize_match_param(m_limits.get());
        onig_set_retry_limit_in_match_of_match_param(m_limits.get(), kMostRetries);
        onig_set_retry_limit_in_search_of_match_param(m_limits.get(), kMostRetries);
        onig_set_match_stack_limit_size_of_match_param(m_limits.get(), kMostStack);
    }

    struct Match {
        size_t begin, end;
    };
    /// Skips an empty match directly after another match.
    Result<std::optional<Match>> next() {
        while (m_from <= m_text.size()) {
            const OnigUChar* begin = bytesOf(m_text);
            const OnigUChar* end = begin + m_text.size();
            const int at = onig_search_with_param(m_compiled, begin, end, begin + m_from, end,
                                                  m_region.get(), ONIG_OPTION_NONE, m_limits.get());
            if (at == ONIG_MISMATCH)
                return std::nullopt;
            if (at < 0)
                return fail(ErrorCode::kInvalid,
                            "cut a text by the pattern of tokenizer.json: " + messageOf(at));
            const Match match{static_cast<size_t>(m_region->beg[0]),
                              static_cast<size_t>(m_region->end[0])};
            const bool repeats = match.begin == match.end && m_last == match.end;
            m_from = repeats ? behind(match.end) : match.end;
            m_last = match.end;
            if (!repeats)
                return match;
        }
        return std::nullopt;
    }

private:
    /// The position of the character after the one at `at`.
    size_t behind(size_t at) const {
        do
            ++at;
        while (at < m_text.size() && (static_cast<uint8_t>(m_text[at]) & 0xc0) == 0x80);
        return at;
    }

    regex_t* m_compiled;
    std::string_view m_text;
    size_t m_from = 0;
    size_t m_last = std::string_view::npos; ///< where the last match ended
    std::unique_ptr<OnigRegion, void (*)(OnigRegion*)> m_region;
    std::unique_ptr<OnigMatchParam, void (*)(OnigMatchParam*)> m_limits;
};

} // namespace

Result<Regex> Regex::compile(const std::string& pattern, bool isPlain) {
    if (pattern.empty() || pattern.size() > kMostPattern)
        return fail(ErrorCode::kInvalid,
                    "read tokenizer.json: a pattern has " + std::to_string(pattern.size()) +
                        " bytes, but must have 1 to " + std::to_string(kMostPattern));
    prepareLibrary();
    regex_t* compiled = nullptr;
    OnigErrorInfo info;
    const OnigUChar* begin = bytesOf(pattern);
    const int code =
        onig_new(&compiled, begin, begin + pattern.size(), ONIG_OPTION_NONE, ONIG_ENCODING_UTF8,
                 isPlain ? ONIG_SYNTAX_ASIS : ONIG_SYNTAX_DEFAULT, &info);
    if (code != ONIG_NORMAL)
        return fail(ErrorCode::kInvalid,
                    "read tokenizer.json: the pattern " + pattern + ": " + messageOf(code, &info));
    return Regex(std::shared_ptr<regex_t>(compiled, &onig_free));
}

Result<void> Regex::forEachSpan(std::string_view text, const Span& each) const {
    Search search(m_compiled.get(), text);
    size_t done = 0;
    const auto hand = [&](size_t end, bool isMatch) -> Result<void> {
        const std::string_view part = text.substr(done, end - done);
        done = end;
        return part.empty() ? Result<void>() : each(part, isMatch);
    };
    for (;;) {
        RM_ASSIGN_OR_RETURN(const auto match, search.next());
        if (!match)
            return hand(text.size(), false);
        if (auto before = hand(match->begin, false); !before)
            return before;
        if (auto matched = hand(match->end, true); !matched)
            return matched;
    }
}

} // namespace rm
