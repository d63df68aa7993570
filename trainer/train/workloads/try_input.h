// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rm {

/// An input for the model of a checkpoint, and how its answer is made; what is not set is as the
/// spec has it.
struct TryInput {
    std::string text;    ///< to be continued or translated
    std::string picture; ///< the bytes of a file, to be classified; empty: it is a text
    std::optional<int64_t> maxTokens;
    std::optional<double> temperature;
    std::optional<int64_t> topK;
    std::optional<double> topP;
    std::optional<int64_t> beams;
    uint64_t seed = 0;
};

} // namespace rm
