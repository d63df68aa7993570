// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// What a model wrote after a step, with what it was asked: one text of a GPT, several of a
/// translation, in the order in which they were written and a blank line between them.
struct StepSample {
    int64_t step = 0;
    int64_t wallNs = 0; ///< of the last
    std::string text;
    int attempt = 0;
    int retiredBy = 0; ///< attempt; 0: of the living line
    bool operator==(const StepSample&) const = default;
};

/// Of samples newest first, as StoreReader::samples() gives them; newest first.
std::vector<StepSample> samplesByStep(const std::vector<StoredSample>& samples);

} // namespace rm
