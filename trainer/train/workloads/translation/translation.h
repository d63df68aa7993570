// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/model/model.h"

namespace rm {

/// Sizes of the vocabularies of the two languages; equal when they share one.
struct TranslationVocab {
    int64_t source = 0;
    int64_t target = 0;
};

/// The encoder-decoder transformer of "Attention Is All You Need" with the parameter names, layouts
/// and numerics of transformers.MarianMTModel: post-norm, sinusoidal positions (sines in the first
/// half of the vector), ReLU, embeddings scaled by sqrt(C) and tied to the classifier. A
/// translation begins with kPadId; Batch describes the batch's tensors. Values in comments: B
/// pairs, S and T tokens of source and target, C width, H heads, V vocabulary of the target.
class Translation final : public Model {
public:
    Translation(const RunSpec& spec, const TranslationVocab& vocab);

    void initialize(at::Generator generator) override;
    at::Tensor loss(const Batch& batch, bool training) override;
    double forwardFlops(const Batch& batch) const override;
    std::string configJson() const override;

    /// The settings for MarianMTModel.generate().
    std::string generationJson(int64_t maxTokens, int64_t beams, double lengthPenalty) const;

    /// The encoder's output (B, S, C) for source ids (B, S); `mask` (bool (B, 1, 1, S), or empty)
    /// marks the real ones.
    at::Tensor encode(const at::Tensor& source, const at::Tensor& mask, bool training) const;

    /// Logits (B, T, V) of the token after each token of `input` (B, T).
    at::Tensor logits(const at::Tensor& memory, const at::Tensor& mask, const at::Tensor& input,
                      bool training) const;

    /// Keys and values of one layer of the decoder: of the translation so far (R, H, most, C / H),
    /// and of the source (R, H, S, C / H). R rows: hypotheses.
    struct LayerCache {
        at::Tensor keys, values, sourceKeys, sourceValues;
    };
    /// The decoder's cache between the tokens of a translation.
    struct Cache {
        std::vector<LayerCache> layers;
        at::Tensor mask;    ///< of the source, (R, 1, 1, S) or empty
        int64_t length = 0; ///< tokens of the translation so far
    };
    Cache startCache(const at::Tensor& memory, const at::Tensor& mask, int64_t most) const;

    /// Takes the rows `rows` (int64) of a cache, in that order; a row may come several times.
    static void selectRows(Cache& cache, const at::Tensor& rows);

    /// Adds one token to each row, `tokens` (R). Returns logits (R, V) of those after them.
    at::Tensor next(const at::Tensor& tokens, Cache& cache) const;

    int64_t longest() const { return m_shape.context; } ///< tokens of a sentence

private:
    struct Linear {
        size_t weight, bias;
    };
    struct Attention {
        Linear key, value, query, out;
    };
    struct EncoderLayer {
        Attention self;
        Linear selfNorm, rise, fall, norm;
    };
    struct DecoderLayer {
        Attention self;
        Linear selfNorm;
        Attention cross;
        Linear crossNorm, rise, fall, norm;
    };

    Linear addLinear(const std::string& name, int64_t in, int64_t out);
    Linear addNorm(const std::string& name);
    Attention addAttention(const std::string& name);
    EncoderLayer addEncoderLayer(int64_t index);
    DecoderLayer addDecoderLayer(int64_t index);

    at::Tensor apply(const Linear& linear, const at::Tensor& x) const;
    at::Tensor normOfSum(const Linear& norm, const at::Tensor& x, const at::Tensor& change) const;
    at::Tensor drop(const at::Tensor& x, bool training) const;
    at::Tensor byHead(const at::Tensor& x) const;
    at::Tensor embed(size_t embedding, const at::Tensor& ids, int64_t first, bool training) const;
    at::Tensor attend(const Attention& attention, const at::Tensor& x, const at::Tensor& keys,
                      const at::Tensor& values, const at::Tensor& mask, bool causal) const;
    at::Tensor feedForward(const Linear& rise, const Linear& fall, const at::Tensor& x,
                           bool training) const;
    at::Tensor runLayer(const EncoderLayer& layer, const at::Tensor& x, const at::Tensor& mask,
                        bool training) const;
    at::Tensor runLayer(const DecoderLayer& layer, const at::Tensor& x, const at::Tensor& memory,
                        const at::Tensor& mask, bool training) const;
    std::vector<at::Tensor> parametersOf(const EncoderLayer& layer) const;
    std::vector<at::Tensor> parametersOf(const DecoderLayer& layer) const;
    std::vector<at::Tensor> valuesOf(const std::vector<Attention>& attentions,
                                     std::vector<Linear> others) const;
    bool recomputes(bool training) const { return training && m_checkpointsActivations; }
    at::Tensor decode(const at::Tensor& memory, const at::Tensor& mask, const at::Tensor& input,
                      bool training) const;
    at::Tensor classify(const at::Tensor& x) const;
    const at::Tensor& positions(at::Device device) const;

    RunSpec::Model m_shape;
    int64_t m_feedForward;
    double m_labelSmoothing;
    bool m_checkpointsActivations; ///< those of each layer
    TranslationVocab m_vocab;
    size_t m_sourceEmbedding = 0;
    size_t m_targetEmbedding = 0;
    size_t m_logitsBias = 0; ///< buffer
    std::vector<EncoderLayer> m_encoder;
    std::vector<DecoderLayer> m_decoder;
    mutable at::Tensor m_positions; ///< (context, C), where the parameters are
};

} // namespace rm
