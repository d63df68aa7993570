// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace rm {

inline constexpr size_t kBleuOrder = 4;

/// The counts from which BLEU of a corpus is computed (Papineni et al. 2002). The counts of parts
/// of a corpus can be added.
struct BleuCounts {
    int64_t hypothesisWords = 0;
    int64_t referenceWords = 0;
    std::array<int64_t, kBleuOrder> matches{}; ///< by length of the n-gram, clipped
    std::array<int64_t, kBleuOrder> totals{};  ///< n-grams of the hypotheses
    bool operator==(const BleuCounts&) const = default;
};

/// Adds one sentence in UTF-8 and its one reference, both as people write them.
void addSentence(BleuCounts& counts, std::string_view hypothesis, std::string_view reference);

/// 0 to 100: sacreBLEU's `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp`.
double bleu(const BleuCounts& counts);

/// The words of mteval-v13a (sacreBLEU's tokenizer 13a) with one space between them.
std::u32string tokenize13a(std::u32string_view line);

} // namespace rm
