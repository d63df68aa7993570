// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/word_diff.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace rm {

namespace {

constexpr size_t kMostWords = 8000; ///< white space between words counts as one, too

using Words = std::vector<std::string_view>;

bool isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Runs of white space and runs of everything else.
Words wordsOf(std::string_view text) {
    Words words;
    for (size_t at = 0; at < text.size();) {
        size_t end = at + 1;
        while (end < text.size() && isSpace(text[end]) == isSpace(text[at]))
            ++end;
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

/// A matched pair of words: positions in both texts.
using Pairs = std::vector<std::pair<size_t, size_t>>;

/// The lengths of the longest common subsequences of what begins at each pair of words.
class CommonLengths {
public:
    CommonLengths(const Words& a, const Words& b)
        : m_columns(b.size() + 1)
        , m_lengths((a.size() + 1) * m_columns) {
        for (size_t i = a.size(); i-- > 0;)
            for (size_t j = b.size(); j-- > 0;)
                m_lengths[i * m_columns + j] = a[i] == b[j]
                                                   ? static_cast<uint16_t>(at(i + 1, j + 1) + 1)
                                                   : std::max(at(i + 1, j), at(i, j + 1));
    }
    uint16_t at(size_t i, size_t j) const { return m_lengths[i * m_columns + j]; }

private:
    size_t m_columns;
    std::vector<uint16_t> m_lengths; ///< kMostWords fit
};

/// Pairs of a longest common subsequence, from `first` on in both texts.
void addMiddle(Pairs& pairs, const Words& a, const Words& b, size_t first) {
    if (a.size() > kMostWords || b.size() > kMostWords)
        return;
    const CommonLengths lengths(a, b);
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] == b[j])
            pairs.emplace_back(first + i++, first + j++);
        else if (lengths.at(i + 1, j) >= lengths.at(i, j + 1))
            ++i;
        else
            ++j;
    }
}

Pairs commonWords(const Words& a, const Words& b) {
    const size_t shorter = std::min(a.size(), b.size());
    size_t head = 0, tail = 0;
    while (head < shorter && a[head] == b[head])
        ++head;
    while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
        ++tail;
    Pairs pairs;
    for (size_t i = 0; i < head; ++i)
        pairs.emplace_back(i, i);
    const auto middle = [&](const Words& words) {
        return Words(words.begin() + static_cast<ptrdiff_t>(head),
                     words.end() - static_cast<ptrdiff_t>(tail));
    };
    addMiddle(pairs, middle(a), middle(b), head);
    for (size_t i = tail; i-- > 0;)
        pairs.emplace_back(a.size() - 1 - i, b.size() - 1 - i);
    return pairs;
}

void add(std::vector<WordSpan>& spans, std::string_view word, bool isOwn) {
    if (spans.empty() || spans.back().isOwn != isOwn)
        spans.push_back({{}, isOwn});
    spans.back().text += word;
}

} // namespace

WordDiff wordDiff(std::string_view a, std::string_view b) {
    const Words wordsA = wordsOf(a), wordsB = wordsOf(b);
    WordDiff diff;
    size_t i = 0, j = 0;
    for (const auto& [inA, inB] : commonWords(wordsA, wordsB)) {
        for (; i < inA; ++i)
            add(diff.a, wordsA[i], true);
        for (; j < inB; ++j)
            add(diff.b, wordsB[j], true);
        add(diff.a, wordsA[i++], false);
        add(diff.b, wordsB[j++], false);
    }
    for (; i < wordsA.size(); ++i)
        add(diff.a, wordsA[i], true);
    for (; j < wordsB.size(); ++j)
        add(diff.b, wordsB[j], true);
    return diff;
}

std::string wdiffText(std::string_view a, std::string_view b) {
    const Words wordsA = wordsOf(a), wordsB = wordsOf(b);
    Pairs pairs = commonWords(wordsA, wordsB);
    pairs.emplace_back(wordsA.size(), wordsB.size());
    std::string text;
    size_t i = 0, j = 0;
    for (const auto& [inA, inB] : pairs) {
        std::string gone, added;
        for (; i < inA; ++i)
            gone += wordsA[i];
        for (; j < inB; ++j)
            added += wordsB[j];
        if (!gone.empty())
            text += "[-" + gone + "-]";
        if (!added.empty())
            text += "{+" + added + "+}";
        if (i < wordsA.size())
            text += wordsA[i];
        ++i;
        ++j;
    }
    return text;
}

} // namespace rm
