// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/translation.h"

#include "trainer/train/model/classifier_loss.h"
#include "trainer/train/model/fused_ops.h"
#include "trainer/train/model/gemm.h"
#include "trainer/train/model/recompute.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace rm {
namespace {

constexpr double kNormEps = 1e-5;

/// (positions, width): sine of the even frequencies, then cosine of the odd ones.
at::Tensor sinusoids(int64_t positions, int64_t width) {
    const at::Tensor table = at::empty({positions, width}, at::kFloat);
    auto* out = table.mutable_data_ptr<float>();
    const int64_t sines = (width + 1) / 2;
    for (int64_t position = 0; position < positions; ++position)
        for (int64_t i = 0; i < width; ++i) {
            const int64_t pair = i < sines ? i : i - sines;
            const double exponent = static_cast<double>(2 * pair) / static_cast<double>(width);
            const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
            *out++ = static_cast<float>(i < sines ? std::sin(angle) : std::cos(angle));
        }
    return table;
}

} // namespace

Translation::Translation(const RunSpec& spec, const TranslationVocab& vocab)
    : m_shape(spec.model)
    , m_feedForward(spec.model.feedForward > 0 ? spec.model.feedForward : 4 * spec.model.width)
    , m_labelSmoothing(spec.train.labelSmoothing)
    , m_checkpointsActivations(spec.train.activationCheckpointing)
    , m_vocab(vocab) {
    const int64_t width = m_shape.width;
    const bool shared = m_shape.shareEmbeddings;
    m_sourceEmbedding =
        addParameter(shared ? "model.shared.weight" : "model.encoder.embed_tokens.weight",
                     {vocab.source, width});
    for (int64_t i = 0; i < m_shape.layers; ++i)
        m_encoder.push_back(addEncoderLayer(i));
    m_targetEmbedding =
        shared ? m_sourceEmbedding
               : addParameter("model.decoder.embed_tokens.weight", {vocab.target, width});
    for (int64_t i = 0; i < m_shape.layers; ++i)
        m_decoder.push_back(addDecoderLayer(i));
    m_logitsBias = addBuffer("final_logits_bias", at::zeros({1, vocab.target}, at::kFloat));
}

Translation::Linear Translation::addLinear(const std::string& name, int64_t in, int64_t out) {
    const size_t weight = addParameter(name + ".weight", {out, in});
    return {weight, addParameter(name + ".bias", {out})};
}

Translation::Linear Translation::addNorm(const std::string& name) {
    const size_t weight = addParameter(name + ".weight", {m_shape.width});
    return {weight, addParameter(name + ".bias", {m_shape.width})};
}

Translation::Attention Translation::addAttention(const std::string& name) {
    const int64_t width = m_shape.width;
    Attention attention{};
    attention.key = addLinear(name + ".k_proj", width, width);
    attention.value = addLinear(name + ".v_proj", width, width);
    attention.query = addLinear(name + ".q_proj", width, width);
    attention.out = addLinear(name + ".out_proj", width, width);
    return attention;
}

Translation::EncoderLayer Translation::addEncoderLayer(int64_t index) {
    const std::string at = "model.encoder.layers." + std::to_string(index);
    EncoderLayer layer{};
    layer.self = addAttention(at + ".self_attn");
    layer.selfNorm = addNorm(at + ".self_attn_layer_norm");
    layer.rise = addLinear(at + ".fc1", m_shape.width, m_feedForward);
    layer.fall = addLinear(at + ".fc2", m_feedForward, m_shape.width);
    layer.norm = addNorm(at + ".final_layer_norm");
    return layer;
}

Translation::DecoderLayer Translation::addDecoderLayer(int64_t index) {
    const std::string at = "model.decoder.layers." + std::to_string(index);
    DecoderLayer layer{};
    layer.self = addAttention(at + ".self_attn");
    layer.selfNorm = addNorm(at + ".self_attn_layer_norm");
    layer.cross = addAttention(at + ".encoder_attn");
    layer.crossNorm = addNorm(at + ".encoder_attn_layer_norm");
    layer.rise = addLinear(at + ".fc1", m_shape.width, m_feedForward);
    layer.fall = addLinear(at + ".fc2", m_feedForward, m_shape.width);
    layer.norm = addNorm(at + ".final_layer_norm");
    return layer;
}

/// Glorot (Xavier) uniform for the matrices; embeddings such that they have variance 1 once scaled.
void Translation::initialize(at::Generator generator) {
    const at::NoGradGuard noGrad;
    const double embeddingStd = 1 / std::sqrt(static_cast<double>(m_shape.width));
    for (size_t i = 0; i < parameters().size(); ++i) {
        const auto& [name, value, isMatrix] = parameters()[i];
        if (i == m_sourceEmbedding || i == m_targetEmbedding) {
            value.normal_(0, embeddingStd, generator);
            at::Tensor(value)[kPadId].zero_();
        } else if (isMatrix) {
            const double bound =
                std::sqrt(6.0 / static_cast<double>(value.size(0) + value.size(1)));
            value.uniform_(-bound, bound, generator);
        } else {
            value.fill_(name.ends_with("norm.weight") ? 1.0 : 0.0);
        }
    }
}

at::Tensor Translation::apply(const Linear& linear, const at::Tensor& x) const {
    const at::Tensor out =
        rm::linear(x.reshape({-1, x.size(-1)}), parameter(linear.weight), parameter(linear.bias));
    return out.view({x.size(0), x.size(1), out.size(-1)});
}

at::Tensor Translation::normOfSum(const Linear& norm, const at::Tensor& x,
                                  const at::Tensor& change) const {
    return addLayerNorm(x, change, parameter(norm.weight), parameter(norm.bias), kNormEps,
                        NormedFor::kResidual)
        .normed;
}

at::Tensor Translation::drop(const at::Tensor& x, bool training) const {
    return training && m_shape.dropout > 0 ? at::dropout(x, m_shape.dropout, true) : x;
}

/// (B, T, C) -> (B, H, T, C / H)
at::Tensor Translation::byHead(const at::Tensor& x) const {
    return x.view({x.size(0), x.size(1), m_shape.heads, m_shape.width / m_shape.heads})
        .transpose(1, 2);
}

const at::Tensor& Translation::positions(at::Device device) const {
    if (!m_positions.defined() || m_positions.device() != device)
        m_positions = sinusoids(m_shape.context, m_shape.width).to(device);
    return m_positions;
}

at::Tensor Translation::embed(size_t embedding, const at::Tensor& ids, int64_t first,
                              bool training) const {
    const double scale = std::sqrt(static_cast<double>(m_shape.width));
    const at::Tensor tokens = at::embedding(parameter(embedding), ids, kPadId) * scale;
    return drop(tokens + positions(ids.device()).narrow(0, first, ids.size(1)), training);
}

at::Tensor Translation::attend(const Attention& attention, const at::Tensor& x,
                               const at::Tensor& keys, const at::Tensor& values,
                               const at::Tensor& mask, bool causal) const {
    const std::optional<at::Tensor> real = mask.numel() > 0 ? std::optional(mask) : std::nullopt;
    const at::Tensor mixed = at::scaled_dot_product_attention(byHead(apply(attention.query, x)),
                                                              keys, values, real, 0.0, causal);
    return apply(attention.out, mixed.transpose(1, 2).reshape(x.sizes()));
}

at::Tensor Translation::feedForward(const Linear& rise, const Linear& fall, const at::Tensor& x,
                                    bool training) const {
    return drop(apply(fall, at::relu(apply(rise, x))), training);
}

at::Tensor Translation::runLayer(const EncoderLayer& layer, const at::Tensor& x,
                                 const at::Tensor& mask, bool training) const {
    const at::Tensor mixed = attend(layer.self, x, byHead(apply(layer.self.key, x)),
                                    byHead(apply(layer.self.value, x)), mask, false);
    const at::Tensor y = normOfSum(layer.selfNorm, x, drop(mixed, training));
    return normOfSum(layer.norm, y, feedForward(layer.rise, layer.fall, y, training));
}

// Padding follows the real tokens, so the causal mask already hides it.
at::Tensor Translation::runLayer(const DecoderLayer& layer, const at::Tensor& x,
                                 const at::Tensor& memory, const at::Tensor& mask,
                                 bool training) const {
    const at::Tensor none = at::empty({0}, at::kBool);
    const at::Tensor mixed = attend(layer.self, x, byHead(apply(layer.self.key, x)),
                                    byHead(apply(layer.self.value, x)), none, true);
    const at::Tensor y = normOfSum(layer.selfNorm, x, drop(mixed, training));
    const at::Tensor crossed = attend(layer.cross, y, byHead(apply(layer.cross.key, memory)),
                                      byHead(apply(layer.cross.value, memory)), mask, false);
    const at::Tensor z = normOfSum(layer.crossNorm, y, drop(crossed, training));
    return normOfSum(layer.norm, z, feedForward(layer.rise, layer.fall, z, training));
}

std::vector<at::Tensor> Translation::valuesOf(const std::vector<Attention>& attentions,
                                              std::vector<Linear> others) const {
    for (const Attention& one : attentions)
        others.insert(others.end(), {one.key, one.value, one.query, one.out});
    std::vector<at::Tensor> values;
    for (const Linear& linear : others)
        values.insert(values.end(), {parameter(linear.weight), parameter(linear.bias)});
    return values;
}

std::vector<at::Tensor> Translation::parametersOf(const EncoderLayer& layer) const {
    return valuesOf({layer.self}, {layer.selfNorm, layer.rise, layer.fall, layer.norm});
}

std::vector<at::Tensor> Translation::parametersOf(const DecoderLayer& layer) const {
    return valuesOf({layer.self, layer.cross},
                    {layer.selfNorm, layer.crossNorm, layer.rise, layer.fall, layer.norm});
}

at::Tensor Translation::encode(const at::Tensor& source, const at::Tensor& mask,
                               bool training) const {
    at::Tensor x = embed(m_sourceEmbedding, source, 0, training);
    for (const EncoderLayer& layer : m_encoder) {
        const auto run = [this, &layer, mask, training](const at::Tensor& in) {
            return runLayer(layer, in, mask, training);
        };
        x = recomputes(training) ? recomputed(run, x, parametersOf(layer), m_shape.dropout > 0)
                                 : run(x);
    }
    return x; // (B, S, C)
}

at::Tensor Translation::decode(const at::Tensor& memory, const at::Tensor& mask,
                               const at::Tensor& input, bool training) const {
    at::Tensor x = embed(m_targetEmbedding, input, 0, training);
    for (const DecoderLayer& layer : m_decoder) {
        // An alias for each layer, so that the memory's gradients are summed in the same order with
        // and without activation checkpointing.
        const at::Tensor seen = memory.view_as(memory);
        const auto run = [this, &layer, seen, mask, training](const at::Tensor& in) {
            return runLayer(layer, in, seen, mask, training);
        };
        std::vector<at::Tensor> leaves = parametersOf(layer);
        leaves.push_back(seen);
        x = recomputes(training) ? recomputed(run, x, leaves, m_shape.dropout > 0) : run(x);
    }
    return x; // (B, T, C)
}

at::Tensor Translation::classify(const at::Tensor& x) const {
    return at::linear(x, parameter(m_targetEmbedding), buffer(m_logitsBias).view({-1}));
}

at::Tensor Translation::logits(const at::Tensor& memory, const at::Tensor& mask,
                               const at::Tensor& input, bool training) const {
    return classify(decode(memory, mask, input, training));
}

at::Tensor Translation::loss(const Batch& batch, bool training) {
    const auto& [source, mask, input, targets, places] = std::tie(
        batch.tensors[0], batch.tensors[1], batch.tensors[2], batch.tensors[3], batch.tensors[4]);
    const at::Tensor memory = encode(source, mask, training);
    at::Tensor x = decode(memory, mask, input, training).reshape({-1, m_shape.width});
    if (places.numel() > 0)
        x = x.index_select(0, places); // the classifier does not see padding
    return classifierLoss(
        x, {parameter(m_targetEmbedding), buffer(m_logitsBias).view({-1})}, targets,
        {.ignoreIndex = kIgnoredTarget, .labelSmoothing = training ? m_labelSmoothing : 0.0});
}

double Translation::forwardFlops(const Batch& batch) const {
    const at::Tensor &source = batch.tensors[0], &input = batch.tensors[2];
    const int64_t rows = source.size(0), from = source.size(1), to = input.size(1);
    const auto sourceTokens = static_cast<double>(source.numel());
    const auto targetTokens = static_cast<double>(input.numel());
    double flops = static_cast<double>(batch.tensors[3].numel()) * flopsOfRow({m_targetEmbedding});
    const auto all = [](const Attention& attention) {
        return std::vector<size_t>{attention.key.weight, attention.value.weight,
                                   attention.query.weight, attention.out.weight};
    };
    for (const EncoderLayer& layer : m_encoder)
        flops += sourceTokens * (flopsOfRow(all(layer.self)) +
                                 flopsOfRow({layer.rise.weight, layer.fall.weight})) +
                 flopsOfAttention(rows, from, from, m_shape.width);
    for (const DecoderLayer& layer : m_decoder)
        flops += targetTokens * (flopsOfRow(all(layer.self)) +
                                 flopsOfRow({layer.cross.query.weight, layer.cross.out.weight,
                                             layer.rise.weight, layer.fall.weight})) +
                 sourceTokens * flopsOfRow({layer.cross.key.weight, layer.cross.value.weight}) +
                 flopsOfAttention(rows, to, to, m_shape.width) +
                 flopsOfAttention(rows, to, from, m_shape.width);
    return flops;
}

} // namespace rm
