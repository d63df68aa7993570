// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// How rotary embeddings are stretched over more tokens than a model first learned with. Names and
/// meaning are those of `rope_parameters` in a config.json of transformers.
struct RopeScaling {
    enum class Kind {
        kNone,
        kLinear, ///< every frequency is divided by `factor`
        kLlama3, ///< low ones are, high ones are not, those between partly
    };

    Kind kind = Kind::kNone;
    double factor = 1;           ///< linear and llama3; at least 1
    double lowFrequency = 1;     ///< llama3: waves longer than originalContext / this are stretched
    double highFrequency = 4;    ///< llama3: waves shorter than originalContext / this are not
    int64_t originalContext = 0; ///< llama3: tokens of the context before it was stretched
    bool operator==(const RopeScaling&) const = default;
};

/// All that makes a Llama the one that it is, besides its weights.
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
    bool tiesEmbeddings = false;  ///< one matrix for the tokens that come and that go
    double attentionDropout = 0;  ///< share of the attention weights dropped while training
    std::optional<int64_t> begin; ///< token that begins a text; none: there is none
    std::vector<int64_t> ends;    ///< tokens that end a text
    bool operator==(const LlamaSettings&) const = default;
};

/// Those of a Hugging Face config.json of a LlamaForCausalLM, in the form of transformers 5
/// (`rope_parameters`) or of earlier ones (`rope_theta`, `rope_scaling`). What may be absent there
/// has the default of transformers. kInvalid names `source` and all that is missing, out of bounds
/// or not ours (biases, other activations and scalings); the result can be built without overflow.
Result<LlamaSettings> llamaSettings(const std::string& config, const std::string& source);

/// config.json of a LlamaForCausalLM in float32. Rotary embeddings stand in it in both forms.
std::string llamaConfig(const LlamaSettings& settings);

/// bos_token_id and eos_token_id as configuration files have them: null, a number or a list.
nlohmann::ordered_json llamaTextEnds(const LlamaSettings& settings);

/// What transformers initializes matrices with.
inline constexpr double kLlamaInitStd = 0.02;

} // namespace rm
