// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/journal/records.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What one input gave at several validations.
struct SampleRow {
    SampleKind kind = SampleKind::kText;
    std::string prompt;
    std::string reference;
    std::vector<std::optional<SampleText>> of; ///< by column; nullopt: it has no such input
};

/// The samples of several validations, of one run or of runs with the same prompts, by their
/// inputs: in the order of the first column, then those that only later ones have.
std::vector<SampleRow> sampleRows(const std::vector<std::vector<SampleText>>& columns);

/// "chrF 61.5", "87 %"; empty: there is none.
std::string scoreWords(const SampleText& sample);

} // namespace rm
