// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/workloads/language_model.h"

#include <optional>

namespace rm {

/// The tokens that mark the begin and the end of a text; none if the vocabulary has no such token.
struct TextEnds {
    std::optional<int64_t> begin, end;
};

/// The tokens in a config.json of GPT-2 that are within the vocabulary; none in any other text.
TextEnds textEndsOf(const std::string& config, int64_t vocabSize);

/// GPT-2 with the parameter names, layouts (Conv1D weights are (in, out)) and numerics of
/// transformers.GPT2LMHeadModel: pre-norm, learned positions, tanh GELU, tied lm_head. Values in
/// comments: B batch, T tokens, C width, H heads, F feed-forward width, V vocabulary.
class Gpt : public LanguageModel {
public:
    /// From `train` it uses labelSmoothing and activationCheckpointing (of each block).
    Gpt(const RunSpec::Model& shape, int64_t vocabSize, const RunSpec::Train& train = {});

    void initialize(at::Generator generator) override;
    at::Tensor loss(const Batch& batch, bool training) override;
    double forwardFlops(const Batch& batch) const override;
    std::string configJson() const override;
    std::string generationJson(int64_t maxTokens, const Sampling& sampling) const override;
    /// For configJson() and generationJson(); texts that we tokenize have neither begin nor end
    /// tokens.
    void setTextEnds(TextEnds ends) { m_textEnds = ends; }

    /// (B, T) token ids -> (B, T, V)
    at::Tensor logits(const at::Tensor& ids, bool training);

    std::vector<int32_t> generate(std::vector<int32_t> prompt, int64_t count,
                                  const Sampling& sampling, at::Generator generator) override;

private:
    struct Block {
        size_t ln1Weight, ln1Bias, attnWeight, attnBias, attnProjWeight, attnProjBias;
        size_t ln2Weight, ln2Bias, fcWeight, fcBias, fcProjWeight, fcProjBias;
    };
    struct KeyValueCache;

    static constexpr double kInitStd = 0.02;
    static constexpr double kNormEps = 1e-5;

    KeyValueCache makeCache() const;
    /// Scores (1, V) of the token after `ids`, which follow the tokens in the cache.
    at::Tensor nextScores(const std::vector<int32_t>& ids, KeyValueCache& cache) const;
    Block addBlock(int64_t index);
    std::vector<at::Tensor> parametersOf(const Block& block) const;
    at::Tensor embed(const at::Tensor& ids, int64_t firstPosition, bool training) const;
    at::Tensor attention(const Block& block, const at::Tensor& x, bool training,
                         KeyValueCache* cache, size_t layer) const;
    at::Tensor feedForward(const Block& block, const at::Tensor& x, bool training) const;
    /// A norm's input: (sum, the addend that is still missing), or its output: (sum, normed sum).
    /// Separate, so that addition and norm can be one operation.
    struct Stream {
        at::Tensor sum, delta;
    };
    Stream enter(const Stream& stream, size_t weight, size_t bias) const;
    Stream runBlock(size_t layer, const Stream& in, bool training, KeyValueCache* cache) const;
    at::Tensor runBlockAgainLater(size_t layer, const at::Tensor& x) const;
    at::Tensor forward(const at::Tensor& ids, bool training, KeyValueCache* cache) const;
    at::Tensor norm(const at::Tensor& x, size_t weight, size_t bias) const;
    at::Tensor project(const at::Tensor& x, size_t weight, size_t bias) const;
    at::Tensor drop(const at::Tensor& x, bool training) const;

    RunSpec::Model m_shape;
    int64_t m_vocabSize;
    double m_labelSmoothing;
    bool m_checkpointsActivations;
    TextEnds m_textEnds;
    size_t m_tokenEmbedding = 0;
    size_t m_positionEmbedding = 0;
    std::vector<Block> m_blocks;
    size_t m_finalWeight = 0;
    size_t m_finalBias = 0;
};

} // namespace rm
