// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"
#include "trainer/train/workloads/translation/translation.h"

#include <nlohmann/json.hpp>

namespace rm {

std::string Translation::configJson() const {
    const nlohmann::ordered_json config = {
        {"model_type", "marian"},
        {"architectures", {"MarianMTModel"}},
        {"vocab_size", m_vocab.source},
        {"decoder_vocab_size", m_vocab.target},
        {"max_position_embeddings", m_shape.context},
        {"d_model", m_shape.width},
        {"encoder_layers", m_shape.layers},
        {"encoder_attention_heads", m_shape.heads},
        {"encoder_ffn_dim", m_feedForward},
        {"decoder_layers", m_shape.layers},
        {"decoder_attention_heads", m_shape.heads},
        {"decoder_ffn_dim", m_feedForward},
        {"activation_function", "relu"},
        {"dropout", m_shape.dropout},
        {"attention_dropout", 0.0},
        {"activation_dropout", 0.0},
        {"scale_embedding", true},
        {"share_encoder_decoder_embeddings", m_shape.shareEmbeddings},
        {"tie_word_embeddings", true},
        {"is_encoder_decoder", true},
        {"eos_token_id", kEndId},
        {"pad_token_id", kPadId},
        {"decoder_start_token_id", kPadId},
        {"forced_eos_token_id", nullptr},
        {"torch_dtype", "float32"},
    };
    return config.dump(2) + "\n";
}

std::string Translation::generationJson(int64_t maxTokens, int64_t beams,
                                        double lengthPenalty) const {
    const nlohmann::ordered_json config = {
        {"decoder_start_token_id", kPadId}, {"eos_token_id", kEndId},      {"pad_token_id", kPadId},
        {"bad_words_ids", {{kPadId}}},      {"max_new_tokens", maxTokens}, {"num_beams", beams},
        {"length_penalty", lengthPenalty},
    };
    return config.dump(2) + "\n";
}

} // namespace rm
