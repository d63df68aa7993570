// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/gpt/gpt.h"

#include "trainer/train/model/classifier_loss.h"
#include "trainer/train/model/continuation.h"
#include "trainer/train/model/fused_ops.h"
#include "trainer/train/model/gemm.h"
#include "trainer/train/model/recompute.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>

#include <cmath>

namespace rm {
namespace {

bool endsWith(const std::string& text, std::string_view end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

/// Keys and values of the tokens seen so far, per layer: (1, H, context, C / H).
struct Gpt::KeyValueCache {
    std::vector<at::Tensor> keys;
    std::vector<at::Tensor> values;
    int64_t length = 0;
};

Gpt::Gpt(const RunSpec::Model& shape, int64_t vocabSize, const RunSpec::Train& train)
    : m_shape(shape)
    , m_vocabSize(vocabSize)
    , m_labelSmoothing(train.labelSmoothing)
    , m_checkpointsActivations(train.activationCheckpointing) {
    m_tokenEmbedding = addParameter("transformer.wte.weight", {vocabSize, shape.width});
    m_positionEmbedding = addParameter("transformer.wpe.weight", {shape.context, shape.width});
    for (int64_t layer = 0; layer < shape.layers; ++layer)
        m_blocks.push_back(addBlock(layer));
    m_finalWeight = addParameter("transformer.ln_f.weight", {shape.width});
    m_finalBias = addParameter("transformer.ln_f.bias", {shape.width});
}

Gpt::Block Gpt::addBlock(int64_t index) {
    const std::string at = "transformer.h." + std::to_string(index) + ".";
    const int64_t c = m_shape.width;
    const int64_t f = m_shape.feedForward > 0 ? m_shape.feedForward : 4 * c;
    Block block{};
    block.ln1Weight = addParameter(at + "ln_1.weight", {c});
    block.ln1Bias = addParameter(at + "ln_1.bias", {c});
    block.attnWeight = addParameter(at + "attn.c_attn.weight", {c, 3 * c});
    block.attnBias = addParameter(at + "attn.c_attn.bias", {3 * c});
    block.attnProjWeight = addParameter(at + "attn.c_proj.weight", {c, c});
    block.attnProjBias = addParameter(at + "attn.c_proj.bias", {c});
    block.ln2Weight = addParameter(at + "ln_2.weight", {c});
    block.ln2Bias = addParameter(at + "ln_2.bias", {c});
    block.fcWeight = addParameter(at + "mlp.c_fc.weight", {c, f});
    block.fcBias = addParameter(at + "mlp.c_fc.bias", {f});
    block.fcProjWeight = addParameter(at + "mlp.c_proj.weight", {f, c});
    block.fcProjBias = addParameter(at + "mlp.c_proj.bias", {c});
    return block;
}

std::vector<at::Tensor> Gpt::parametersOf(const Block& block) const {
    std::vector<at::Tensor> values;
    for (const size_t index :
         {block.ln1Weight, block.ln1Bias, block.attnWeight, block.attnBias, block.attnProjWeight,
          block.attnProjBias, block.ln2Weight, block.ln2Bias, block.fcWeight, block.fcBias,
          block.fcProjWeight, block.fcProjBias})
        values.push_back(parameter(index));
    return values;
}

void Gpt::initialize(at::Generator generator) {
    const at::NoGradGuard noGrad;
    const double residualStd = kInitStd / std::sqrt(2.0 * static_cast<double>(m_shape.layers));
    for (const Parameter& parameter : parameters()) {
        const bool residual = endsWith(parameter.name, "c_proj.weight");
        if (parameter.decays)
            parameter.value.normal_(0.0, residual ? residualStd : kInitStd, generator);
        else
            parameter.value.fill_(endsWith(parameter.name, "weight") ? 1.0 : 0.0);
    }
}

at::Tensor Gpt::norm(const at::Tensor& x, size_t weight, size_t bias) const {
    return at::layer_norm(x, {m_shape.width}, parameter(weight), parameter(bias), kNormEps);
}

at::Tensor Gpt::project(const at::Tensor& x, size_t weight, size_t bias) const {
    const at::Tensor out = affine(x.reshape({-1, x.size(-1)}), parameter(weight), parameter(bias));
    return out.view({x.size(0), x.size(1), out.size(-1)});
}

at::Tensor Gpt::drop(const at::Tensor& x, bool training) const {
    return training && m_shape.dropout > 0 ? at::dropout(x, m_shape.dropout, true) : x;
}

at::Tensor Gpt::embed(const at::Tensor& ids, int64_t firstPosition, bool training) const {
    const at::Tensor positions = at::arange(firstPosition, firstPosition + ids.size(1),
                                            ids.options()); // (T)
    const at::Tensor x = at::embedding(parameter(m_tokenEmbedding), ids) +
                         at::embedding(parameter(m_positionEmbedding), positions);
    return drop(x, training); // (B, T, C)
}

at::Tensor Gpt::attention(const Block& block, const at::Tensor& x, bool training,
                          KeyValueCache* cache, size_t layer) const {
    const int64_t b = x.size(0);
    const int64_t t = x.size(1);
    const int64_t heads = m_shape.heads;
    const auto parts = project(x, block.attnWeight, block.attnBias).split(m_shape.width, -1);
    const auto byHead = [&](const at::Tensor& part) { // (B, T, C) -> (B, H, T, C / H)
        return part.view({b, t, heads, m_shape.width / heads}).transpose(1, 2);
    };
    const at::Tensor query = byHead(parts[0]);
    at::Tensor key = byHead(parts[1]);
    at::Tensor value = byHead(parts[2]);
    if (cache) {
        cache->keys[layer].narrow(2, cache->length, t).copy_(key);
        cache->values[layer].narrow(2, cache->length, t).copy_(value);
        key = cache->keys[layer].narrow(2, 0, cache->length + t);
        value = cache->values[layer].narrow(2, 0, cache->length + t);
    }
    const double dropout = training ? m_shape.dropout : 0.0;
    // A single query at the end sees every key, so only several queries need the causal mask.
    const at::Tensor mixed =
        at::scaled_dot_product_attention(query, key, value, {}, dropout, /*is_causal=*/t > 1);
    const at::Tensor joined = mixed.transpose(1, 2).reshape({b, t, m_shape.width});
    return drop(project(joined, block.attnProjWeight, block.attnProjBias), training);
}

at::Tensor Gpt::feedForward(const Block& block, const at::Tensor& x, bool training) const {
    const at::Tensor hidden = productGelu(x.reshape({-1, m_shape.width}), parameter(block.fcWeight),
                                          parameter(block.fcBias)); // (B T, F)
    const at::Tensor out =
        affine(hidden, parameter(block.fcProjWeight), parameter(block.fcProjBias));
    return drop(out.view(x.sizes()), training);
}

Gpt::Stream Gpt::enter(const Stream& stream, size_t weight, size_t bias) const {
    if (!stream.delta.defined())
        return {stream.sum, norm(stream.sum, weight, bias)};
    const NormedSum normed =
        addLayerNorm(stream.sum, stream.delta, parameter(weight), parameter(bias), kNormEps);
    return {normed.sum, normed.normed};
}

Gpt::Stream Gpt::runBlock(size_t layer, const Stream& in, bool training,
                          KeyValueCache* cache) const {
    const Block& block = m_blocks[layer];
    const auto [x, normed] = enter(in, block.ln1Weight, block.ln1Bias);
    const Stream mixed{x, attention(block, normed, training, cache, layer)};
    const auto [y, normedAgain] = enter(mixed, block.ln2Weight, block.ln2Bias);
    return {y, feedForward(block, normedAgain, training)};
}

at::Tensor Gpt::runBlockAgainLater(size_t layer, const at::Tensor& x) const {
    const auto run = [this, layer](const at::Tensor& in) {
        const Stream out = runBlock(layer, {in, {}}, true, nullptr);
        return out.sum + out.delta;
    };
    return recomputed(run, x, parametersOf(m_blocks[layer]), m_shape.dropout > 0);
}

at::Tensor Gpt::forward(const at::Tensor& ids, bool training, KeyValueCache* cache) const {
    const bool again = training && m_checkpointsActivations;
    Stream x{embed(ids, cache ? cache->length : 0, training), {}};
    for (size_t layer = 0; layer < m_blocks.size(); ++layer)
        x = again ? Stream{runBlockAgainLater(layer, x.sum), {}}
                  : runBlock(layer, x, training, cache);
    if (cache)
        cache->length += ids.size(1);
    return enter(x, m_finalWeight, m_finalBias).delta; // (B, T, C)
}

at::Tensor Gpt::logits(const at::Tensor& ids, bool training) {
    return at::matmul(forward(ids, training, nullptr), parameter(m_tokenEmbedding).t());
}

at::Tensor Gpt::loss(const Batch& batch, bool training) {
    const at::Tensor x = forward(batch.tensors[0], training, nullptr); // (B, T, C)
    return classifierLoss(x.view({-1, m_shape.width}), {parameter(m_tokenEmbedding), {}},
                          batch.tensors[1].reshape({-1}),
                          {.labelSmoothing = training ? m_labelSmoothing : 0.0});
}

double Gpt::forwardFlops(const Batch& batch) const {
    const at::Tensor& ids = batch.tensors[0];
    const auto tokens = static_cast<double>(ids.numel());
    double flops = tokens * flopsOfRow({m_tokenEmbedding}); // the scores of the next tokens
    for (const Block& block : m_blocks)
        flops += tokens * flopsOfRow({block.attnWeight, block.attnProjWeight, block.fcWeight,
                                      block.fcProjWeight}) +
                 flopsOfAttention(ids.size(0), ids.size(1), ids.size(1), m_shape.width);
    return flops;
}

Gpt::KeyValueCache Gpt::makeCache() const {
    const std::vector<int64_t> shape{1, m_shape.heads, m_shape.context,
                                     m_shape.width / m_shape.heads};
    const auto options = parameter(m_tokenEmbedding).options().requires_grad(false);
    KeyValueCache cache;
    for (size_t layer = 0; layer < m_blocks.size(); ++layer) {
        cache.keys.push_back(at::empty(shape, options));
        cache.values.push_back(at::empty(shape, options));
    }
    return cache;
}

at::Tensor Gpt::nextScores(const std::vector<int32_t>& ids, KeyValueCache& cache) const {
    const at::Tensor& embedding = parameter(m_tokenEmbedding);
    const std::vector<int64_t> wide(ids.begin(), ids.end());
    const at::Tensor input = at::tensor(wide, at::kLong).unsqueeze(0).to(embedding.device());
    const at::Tensor last = forward(input, false, &cache).select(1, -1); // (1, C)
    return at::matmul(last, embedding.t());                              // (1, V)
}

std::vector<int32_t> Gpt::generate(std::vector<int32_t> prompt, int64_t count,
                                   const Sampling& sampling, at::Generator generator) {
    const at::InferenceMode inference;
    KeyValueCache cache = makeCache();
    return continuation(prompt, count, m_shape.context, sampling, generator,
                        [&](const std::vector<int32_t>& ids, bool anew) {
                            if (anew)
                                cache.length = 0;
                            return nextScores(ids, cache);
                        });
}

} // namespace rm
