// SPDX-License-Identifier: Apache-2.0
#include "shared/io/json.h"
#include "trainer/train/workloads/gpt/gpt.h"

namespace rm {
namespace {

constexpr const char* kBeginKey = "bos_token_id";
constexpr const char* kEndKey = "eos_token_id";

nlohmann::ordered_json idOrNull(const std::optional<int64_t>& id) {
    return id ? nlohmann::ordered_json(*id) : nlohmann::ordered_json();
}

} // namespace

TextEnds textEndsOf(const std::string& config, int64_t vocabSize) {
    const auto json = parseJson(config, "config.json");
    if (!json)
        return {};
    const auto id = [&](const char* key) {
        const auto named = intAt(*json, key);
        return named && *named >= 0 && *named < vocabSize ? named : std::nullopt;
    };
    return {id(kBeginKey), id(kEndKey)};
}

std::string Gpt::configJson() const {
    nlohmann::ordered_json config = {
        {"model_type", "gpt2"},
        {"architectures", {"GPT2LMHeadModel"}},
        {"vocab_size", m_vocabSize},
        {"n_positions", m_shape.context},
        {"n_ctx", m_shape.context},
        {"n_embd", m_shape.width},
        {"n_layer", m_shape.layers},
        {"n_head", m_shape.heads},
        {"activation_function", "gelu_new"},
        {"embd_pdrop", m_shape.dropout},
        {"attn_pdrop", m_shape.dropout},
        {"resid_pdrop", m_shape.dropout},
        {"layer_norm_epsilon", kNormEps},
        {"initializer_range", kInitStd},
        {"tie_word_embeddings", true},
        // Written even if null: by default they would be those of GPT-2's vocabulary.
        {kBeginKey, idOrNull(m_textEnds.begin)},
        {kEndKey, idOrNull(m_textEnds.end)},
        {"torch_dtype", "float32"},
    };
    if (m_shape.feedForward > 0)
        config["n_inner"] = m_shape.feedForward;
    return config.dump(2) + "\n";
}

std::string Gpt::generationJson(int64_t maxTokens, const Sampling& sampling) const {
    return generationConfig(
        {{kBeginKey, idOrNull(m_textEnds.begin)}, {kEndKey, idOrNull(m_textEnds.end)}}, maxTokens,
        sampling);
}

} // namespace rm
