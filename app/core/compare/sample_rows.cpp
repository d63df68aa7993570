// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/sample_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace rm {

namespace {

/// The first row of this input that has nothing in the column yet: an input may come twice.
SampleRow& rowFor(std::vector<SampleRow>& rows, const SampleText& sample, size_t column,
                  size_t columns) {
    const auto at = std::ranges::find_if(rows, [&](const SampleRow& row) {
        return row.kind == sample.kind && row.prompt == sample.prompt && !row.of[column];
    });
    if (at != rows.end())
        return *at;
    rows.push_back({sample.kind, sample.prompt, sample.reference,
                    std::vector<std::optional<SampleText>>(columns)});
    return rows.back();
}

} // namespace

std::vector<SampleRow> sampleRows(const std::vector<std::vector<SampleText>>& columns) {
    std::vector<SampleRow> rows;
    for (size_t column = 0; column < columns.size(); ++column)
        for (const SampleText& sample : columns[column])
            rowFor(rows, sample, column, columns.size()).of[column] = sample;
    return rows;
}

std::string scoreWords(const SampleText& sample) {
    if (std::isnan(sample.score) || sample.kind == SampleKind::kText)
        return {};
    char words[32];
    if (sample.kind == SampleKind::kTranslation)
        std::snprintf(words, sizeof words, "chrF %.1f", static_cast<double>(sample.score));
    else
        std::snprintf(words, sizeof words, "%.0f %%", static_cast<double>(sample.score) * 100);
    return words;
}

} // namespace rm
