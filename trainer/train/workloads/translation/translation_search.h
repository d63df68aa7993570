// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/translation/translation.h"

namespace rm {

/// Settings of the search for a translation.
struct SearchSettings {
    int64_t maxTokens = 1; ///< </s> among them; at most Translation::longest()
    int64_t beams = 1;     ///< 1: the likeliest token every time
    /// A hypothesis scores its log-probability over its number of tokens to this power.
    double lengthPenalty = 1;
};

/// Translates source ids (B, S), with a mask as Translation::encode() has it, to target ids without
/// kEndId, by row. Gives the result of transformers' generate() with the same settings (no
/// sampling, early_stopping off). Changes no generator.
std::vector<std::vector<int32_t>> translate(const Translation& model, const at::Tensor& source,
                                            const at::Tensor& mask, const SearchSettings& settings);

} // namespace rm
