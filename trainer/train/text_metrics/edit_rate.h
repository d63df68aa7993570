// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace rm {

/// The counts from which an error rate of a corpus is computed: insertions, deletions and
/// substitutions between hypotheses and references (Levenshtein 1966). The counts of parts of a
/// corpus can be added.
struct EditCounts {
    int64_t edits = 0;
    int64_t reference = 0; ///< words or characters
    bool operator==(const EditCounts&) const = default;
};

/// Adds one sentence in UTF-8 and its one reference by words. White space separates words, as in
/// Python's str.split().
void addWords(EditCounts& counts, std::string_view hypothesis, std::string_view reference);

/// The same by code points.
void addCharacters(EditCounts& counts, std::string_view hypothesis, std::string_view reference);

/// Edits divided by the total length of the references, 0 and up: WER of words, CER of characters.
/// A total of 0 counts as 1.
double errorRate(const EditCounts& counts);

} // namespace rm
