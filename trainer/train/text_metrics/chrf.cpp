// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/text_metrics/chrf.h"

#include "trainer/train/text_metrics/unicode_text.h"

#include <algorithm>
#include <unordered_map>

namespace rm {
namespace {

using CharacterNgrams = std::unordered_map<std::u32string_view, int64_t>;

std::u32string withoutSpace(std::string_view text) {
    std::u32string points = codePoints(text);
    std::erase_if(points, isUnicodeSpace);
    return points;
}

CharacterNgrams ngramsOf(std::u32string_view text, size_t order) {
    CharacterNgrams ngrams;
    for (size_t i = 0; i + order <= text.size(); ++i)
        ++ngrams[text.substr(i, order)];
    return ngrams;
}

int64_t countOf(std::u32string_view text, size_t order) {
    return text.size() < order ? 0 : static_cast<int64_t>(text.size() - order + 1);
}

} // namespace

void addSentence(ChrfCounts& counts, std::string_view hypothesis, std::string_view reference) {
    const std::u32string ours = withoutSpace(hypothesis);
    const std::u32string theirs = withoutSpace(reference);
    for (size_t order = 1; order <= kChrfOrder; ++order) {
        const int64_t possible = countOf(theirs, order);
        // n-grams longer than the reference do not count against the hypothesis.
        counts.hypothesis[order - 1] += possible > 0 ? countOf(ours, order) : 0;
        counts.reference[order - 1] += possible;
        const CharacterNgrams known = ngramsOf(theirs, order);
        for (const auto& [ngram, count] : ngramsOf(ours, order))
            if (const auto found = known.find(ngram); found != known.end())
                counts.matches[order - 1] += std::min(count, found->second);
    }
}

double chrf(const ChrfCounts& counts) {
    constexpr double kFactor = 4; // beta squared
    double precision = 0;
    double recall = 0;
    int orders = 0;
    for (size_t i = 0; i < kChrfOrder; ++i) {
        if (counts.hypothesis[i] == 0 || counts.reference[i] == 0)
            continue;
        const auto matches = static_cast<double>(counts.matches[i]);
        precision += matches / static_cast<double>(counts.hypothesis[i]);
        recall += matches / static_cast<double>(counts.reference[i]);
        ++orders;
    }
    if (precision + recall == 0)
        return 0;
    precision /= orders;
    recall /= orders;
    return 100 * (1 + kFactor) * precision * recall / (kFactor * precision + recall);
}

} // namespace rm
