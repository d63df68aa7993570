// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/model/fused_ops.h"
#include "trainer/train/workloads/language_model.h"
#include "trainer/train/workloads/llama/rotary.h"
#include "trainer/train/workloads/llama/settings.h"

namespace rm {

/// Llama with the parameter names, layouts (weights are (out, in)) and numerics of
/// transformers.LlamaForCausalLM: pre-norm by RMSNorm, rotary embeddings, grouped-query attention,
/// SwiGLU, no biases, tied or separate embeddings. Weight decay applies to all matrices, including
/// the embeddings as in our GPT, but not to norms. Values in comments: B batch, T tokens,
/// N = B T, C width, H heads, K heads of keys and values, D width of a head, F feed-forward width,
/// V vocabulary.
class Llama : public LanguageModel {
public:
    /// From `train` it uses labelSmoothing and activationCheckpointing (of each block).
    explicit Llama(const LlamaSettings& settings, const RunSpec::Train& train = {});

    void initialize(at::Generator generator) override;
    at::Tensor loss(const Batch& batch, bool training) override;
    double forwardFlops(const Batch& batch) const override;
    std::string configJson() const override { return llamaConfig(m_settings); }
    std::string generationJson(int64_t maxTokens, const Sampling& sampling) const override;

    /// (B, T) token ids -> (B, T, V)
    at::Tensor logits(const at::Tensor& ids, bool training);

    std::vector<int32_t> generate(std::vector<int32_t> prompt, int64_t count,
                                  const Sampling& sampling, at::Generator generator) override;

private:
    struct Block {
        size_t attentionNorm, query, key, value, attentionOut;
        size_t feedForwardNorm, gate, up, down;
    };
    struct KeyValueCache;
    /// The values that all blocks of one forward pass share.
    struct Pass {
        int64_t rows; ///< B
        RotaryAngles angles;
        bool training;
        KeyValueCache* cache;
    };
    /// A norm's input: (sum, the addend that is still missing), or its output: (sum, normed sum).
    /// Separate, so that addition and norm can be one operation.
    struct Stream {
        at::Tensor sum, delta; ///< (N, C)
    };

    Block addBlock(int64_t index);
    std::vector<at::Tensor> parametersOf(const Block& block) const;
    KeyValueCache makeCache(int64_t capacity) const;
    /// (N, in) -> (N, out)
    at::Tensor project(const at::Tensor& x, size_t weight) const;
    Stream enter(const Stream& stream, size_t weight) const;
    at::Tensor attention(size_t layer, const at::Tensor& x, const Pass& pass) const;
    at::Tensor feedForward(const Block& block, const at::Tensor& x) const;
    Stream runBlock(size_t layer, const Stream& in, const Pass& pass) const;
    at::Tensor runBlockAgainLater(size_t layer, const at::Tensor& x, const Pass& pass) const;
    /// (B, T) -> (N, C)
    at::Tensor forward(const at::Tensor& ids, bool training, KeyValueCache* cache);
    /// Scores (1, V) of the token after `ids`, which follow the tokens in the cache.
    at::Tensor nextScores(const std::vector<int32_t>& ids, KeyValueCache& cache);

    LlamaSettings m_settings;
    double m_labelSmoothing;
    bool m_checkpointsActivations;
    RotaryTable m_rotary;
    size_t m_tokenEmbedding = 0;
    std::vector<Block> m_blocks;
    size_t m_finalNorm = 0;
    size_t m_output = 0; ///< the embedding, where they are tied
};

} // namespace rm
