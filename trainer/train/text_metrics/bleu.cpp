// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/text_metrics/bleu.h"

#include "trainer/train/text_metrics/unicode_text.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace rm {
namespace {

using WordNgrams = std::unordered_map<std::u32string, int64_t>;

void replaceAll(std::u32string& text, std::u32string_view from, std::u32string_view to) {
    for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

bool isDigit(char32_t point) {
    return point >= '0' && point <= '9';
}

bool isStop(char32_t point) {
    return point == '.' || point == ',';
}

/// All of ASCII's punctuation but the apostrophe, comma, hyphen and full stop; and the space.
bool standsAlone(char32_t point) {
    static constexpr std::u32string_view kKept = U"',-.";
    const bool letter =
        isDigit(point) || (point >= 'A' && point <= 'Z') || (point >= 'a' && point <= 'z');
    return point >= ' ' && point <= '~' && !letter && kKept.find(point) == kKept.npos;
}

std::u32string partPunctuation(std::u32string_view text) {
    std::u32string out;
    for (const char32_t point : text) {
        if (standsAlone(point))
            out.append({U' ', point, U' '});
        else
            out.push_back(point);
    }
    return out;
}

/// Replaces neighbours for which `matches(a, b)` holds by `before`, a, a space, b, `after`, and
/// continues after b, as a regular expression of two characters does.
template <class Matches>
std::u32string partPairs(std::u32string_view text, std::u32string_view before,
                         std::u32string_view after, Matches matches) {
    std::u32string out;
    for (size_t i = 0; i < text.size(); ++i) {
        if (i + 1 == text.size() || !matches(text[i], text[i + 1])) {
            out.push_back(text[i]);
            continue;
        }
        out.append(before).append(1, text[i]).append(U" ").append(1, text[i + 1]).append(after);
        ++i;
    }
    return out;
}

std::u32string joined(const std::vector<std::u32string_view>& words, size_t first, size_t count) {
    std::u32string text;
    for (size_t i = first; i < first + count; ++i)
        text.append(i > first ? U" " : U"").append(words[i]);
    return text;
}

WordNgrams ngramsOf(const std::vector<std::u32string_view>& words, size_t order) {
    WordNgrams ngrams;
    for (size_t i = 0; i + order <= words.size(); ++i)
        ++ngrams[joined(words, i, order)];
    return ngrams;
}

std::u32string tokensOf(std::string_view sentence) {
    return tokenize13a(withoutTrailingSpace(codePoints(sentence)));
}

/// log(0) as sacreBLEU has it.
double logOrLowest(double value) {
    constexpr double kLowest = -9999999999;
    return value == 0 ? kLowest : std::log(value);
}

double brevityPenalty(const BleuCounts& counts) {
    const auto ours = static_cast<double>(counts.hypothesisWords);
    const auto theirs = static_cast<double>(counts.referenceWords);
    if (ours >= theirs)
        return 1;
    return ours > 0 ? std::exp(1 - theirs / ours) : 0;
}

} // namespace

std::u32string tokenize13a(std::u32string_view line) {
    std::u32string text(line);
    replaceAll(text, U"<skipped>", U"");
    replaceAll(text, U"-\n", U"");
    replaceAll(text, U"\n", U" ");
    replaceAll(text, U"&quot;", U"\"");
    replaceAll(text, U"&amp;", U"&");
    replaceAll(text, U"&lt;", U"<");
    replaceAll(text, U"&gt;", U">");
    text = partPunctuation(U" " + text + U" ");
    text =
        partPairs(text, U"", U" ", [](char32_t a, char32_t b) { return !isDigit(a) && isStop(b); });
    text =
        partPairs(text, U" ", U"", [](char32_t a, char32_t b) { return isStop(a) && !isDigit(b); });
    text =
        partPairs(text, U"", U" ", [](char32_t a, char32_t b) { return isDigit(a) && b == U'-'; });
    const auto words = splitWords(text);
    return joined(words, 0, words.size());
}

void addSentence(BleuCounts& counts, std::string_view hypothesis, std::string_view reference) {
    const std::u32string ours = tokensOf(hypothesis);
    const std::u32string theirs = tokensOf(reference);
    const auto ourWords = splitWords(ours);
    const auto theirWords = splitWords(theirs);
    counts.hypothesisWords += static_cast<int64_t>(ourWords.size());
    counts.referenceWords += static_cast<int64_t>(theirWords.size());
    for (size_t order = 1; order <= kBleuOrder; ++order) {
        const WordNgrams known = ngramsOf(theirWords, order);
        for (const auto& [ngram, count] : ngramsOf(ourWords, order)) {
            counts.totals[order - 1] += count;
            if (const auto found = known.find(ngram); found != known.end())
                counts.matches[order - 1] += std::min(count, found->second);
        }
    }
}

double bleu(const BleuCounts& counts) {
    if (std::ranges::all_of(counts.matches, [](int64_t count) { return count == 0; }))
        return 0;
    double logs = 0;
    double smoothing = 1;
    bool ended = false; // hypotheses too short for n-grams of this length
    for (size_t i = 0; i < kBleuOrder; ++i) {
        const auto total = static_cast<double>(counts.totals[i]);
        ended = ended || total == 0;
        double precision = 0;
        if (!ended && counts.matches[i] == 0)
            precision = 100 / ((smoothing *= 2) * total);
        else if (!ended)
            precision = 100 * static_cast<double>(counts.matches[i]) / total;
        logs += logOrLowest(precision);
    }
    return brevityPenalty(counts) * std::exp(logs / kBleuOrder);
}

} // namespace rm
