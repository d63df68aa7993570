// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// How rotary embeddings are stretched to a longer context than the model was first trained with.
/// Names and meaning are those of `rope_parameters` in a config.json of transformers.
struct RopeScaling {
    enum class Kind {
        kNone,
        kLinear, ///< every frequency is divided by `factor`
        kLlama3, ///< low ones fully, high ones not, those between partly
    };

    Kind kind = Kind::kNone;
    double factor = 1;           ///< linear and llama3; at least 1
    double lowFrequency = 1;     ///< llama3: waves longer than originalContext / this are stretched
    double highFrequency = 4;    ///< llama3: waves shorter than originalContext / this are not
    int64_t originalContext = 0; ///< llama3: tokens of the context before it was stretched
    bool operator==(const RopeScaling&) const = default;
};

/// Everything that defines a Llama besides its weights.
struct LlamaSettings {
    int64_t layers = 0;
    int64_t width = 0; ///< of a token's vector; a multiple of `heads`
    int64_t heads = 0;
    int64_t kvHeads = 0;     ///< heads of keys and values; they divide `heads`
    int64_t headDim = 0;     ///< width of a head; even
    int64_t feedForward = 0; ///< width inside a block
    int64_t context = 0;     ///< tokens
    int64_t vocab = 0;
    double ropeBase = 10000;
    RopeScaling ropeScaling;
    double normEps = 1e-6;
    bool tiesEmbeddings = false;  ///< input and output embeddings are one matrix
    double attentionDropout = 0;  ///< share of the attention weights dropped while training
    std::optional<int64_t> begin; ///< token that begins a text; none: there is none
    std::vector<int64_t> ends;    ///< tokens that end a text
    bool operator==(const LlamaSettings&) const = default;
};

/// Reads a Hugging Face config.json of a LlamaForCausalLM, of transformers 5 (`rope_parameters`) or
/// earlier (`rope_theta`, `rope_scaling`). Optional values have the defaults of transformers.
/// kInvalid names `source` and everything that is missing, out of bounds or not supported (biases,
/// other activations and scalings). A model can be built from the result without overflow.
Result<LlamaSettings> llamaSettings(const std::string& config, const std::string& source);

/// config.json of a LlamaForCausalLM in float32, with rotary embeddings in both forms.
std::string llamaConfig(const LlamaSettings& settings);

/// bos_token_id and eos_token_id as configuration files have them: null, a number or a list.
nlohmann::ordered_json llamaTextEnds(const LlamaSettings& settings);

/// The standard deviation with which transformers initializes matrices.
inline constexpr double kLlamaInitStd = 0.02;

} // namespace rm
