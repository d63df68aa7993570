// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/text_metrics/edit_rate.h"

#include "trainer/train/text_metrics/unicode_text.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace rm {
namespace {

/// By Wagner and Fischer (1974), with one row of their table.
template <class Sequence>
int64_t editsBetween(const Sequence& a, const Sequence& b) {
    std::vector<int64_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), int64_t{0});
    for (size_t i = 0; i < a.size(); ++i) {
        int64_t diagonal = std::exchange(row[0], row[0] + 1);
        for (size_t j = 0; j < b.size(); ++j) {
            const int64_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({substituted, diagonal + 1, row[j] + 1});
        }
    }
    return row.back();
}

template <class Sequence>
void add(EditCounts& counts, const Sequence& hypothesis, const Sequence& reference) {
    counts.edits += editsBetween(hypothesis, reference);
    counts.reference += static_cast<int64_t>(reference.size());
}

} // namespace

void addWords(EditCounts& counts, std::string_view hypothesis, std::string_view reference) {
    const std::u32string ours = codePoints(hypothesis);
    const std::u32string theirs = codePoints(reference);
    add(counts, splitWords(ours), splitWords(theirs));
}

void addCharacters(EditCounts& counts, std::string_view hypothesis, std::string_view reference) {
    add(counts, codePoints(hypothesis), codePoints(reference));
}

double errorRate(const EditCounts& counts) {
    return static_cast<double>(counts.edits) /
           static_cast<double>(std::max<int64_t>(1, counts.reference));
}

} // namespace rm
