// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/series.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// What a model made of its inputs after a step: one text of a GPT, several translations, or
/// pictures, in order. `text` has all of them in words, separated by blank lines.
struct StepSample {
    int64_t step = 0;
    int64_t wallNs = 0; ///< of the last
    std::string text;
    int attempt = 0;
    int retiredBy = 0; ///< attempt; 0: of the living line
    std::vector<SampleText> parts = {};
    bool operator==(const StepSample&) const = default;
};

/// Groups samples, which are newest first as StoreReader::samples() gives them; newest first.
std::vector<StepSample> samplesByStep(const std::vector<StoredSample>& samples);

} // namespace rm
