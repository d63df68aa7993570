// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/model.h"
#include "trainer/train/model/sampling.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// A causal language model. A batch is token ids and the tokens that follow them, both (B, T).
class LanguageModel : public Model {
public:
    /// generation_config.json: the settings for transformers' generate().
    virtual std::string generationJson(int64_t maxTokens, const Sampling& sampling) const = 0;

    /// Continues `prompt` by `count` tokens drawn with `generator` alone; changes no other random
    /// state.
    virtual std::vector<int32_t> generate(std::vector<int32_t> prompt, int64_t count,
                                          const Sampling& sampling, at::Generator generator) = 0;
};

/// generation_config.json: `textEnds` (bos_token_id, eos_token_id) and how tokens are drawn.
std::string generationConfig(nlohmann::ordered_json textEnds, int64_t maxTokens,
                             const Sampling& sampling);

} // namespace rm
