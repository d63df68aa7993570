// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/llama/llama.h"

#include "trainer/train/model/classifier_loss.h"
#include "trainer/train/model/continuation.h"
#include "trainer/train/model/gemm.h"
#include "trainer/train/model/recompute.h"
#include "trainer/train/workloads/llama/llama_ops.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>
#include <nlohmann/json.hpp>

namespace rm {

/// Keys and values of the tokens seen so far, per layer: (1, T, K, D), with room for more.
struct Llama::KeyValueCache {
    std::vector<at::Tensor> keys;
    std::vector<at::Tensor> values;
    int64_t length = 0;

    /// Appends keys and values of the next tokens; afterwards the arguments are those of all
    /// tokens.
    void extend(size_t layer, at::Tensor& key, at::Tensor& value) const {
        const int64_t count = key.size(1);
        keys[layer].narrow(1, length, count).copy_(key);
        values[layer].narrow(1, length, count).copy_(value);
        key = keys[layer].narrow(1, 0, length + count);
        value = values[layer].narrow(1, 0, length + count);
    }
};

Llama::Llama(const LlamaSettings& settings, const RunSpec::Train& train)
    : m_settings(settings)
    , m_labelSmoothing(train.labelSmoothing)
    , m_checkpointsActivations(train.activationCheckpointing)
    , m_rotary(rotaryFrequencies(settings.headDim, settings.ropeBase, settings.ropeScaling)) {
    m_tokenEmbedding = addParameter("model.embed_tokens.weight", {settings.vocab, settings.width});
    for (int64_t layer = 0; layer < settings.layers; ++layer)
        m_blocks.push_back(addBlock(layer));
    m_finalNorm = addParameter("model.norm.weight", {settings.width});
    m_output = settings.tiesEmbeddings
                   ? m_tokenEmbedding
                   : addParameter("lm_head.weight", {settings.vocab, settings.width});
}

Llama::Block Llama::addBlock(int64_t index) {
    const std::string at = "model.layers." + std::to_string(index) + ".";
    const int64_t c = m_settings.width;
    const int64_t f = m_settings.feedForward;
    const int64_t ofQueries = m_settings.heads * m_settings.headDim;
    const int64_t ofKeys = m_settings.kvHeads * m_settings.headDim;
    Block block{};
    block.attentionNorm = addParameter(at + "input_layernorm.weight", {c});
    block.query = addParameter(at + "self_attn.q_proj.weight", {ofQueries, c});
    block.key = addParameter(at + "self_attn.k_proj.weight", {ofKeys, c});
    block.value = addParameter(at + "self_attn.v_proj.weight", {ofKeys, c});
    block.attentionOut = addParameter(at + "self_attn.o_proj.weight", {c, ofQueries});
    block.feedForwardNorm = addParameter(at + "post_attention_layernorm.weight", {c});
    block.gate = addParameter(at + "mlp.gate_proj.weight", {f, c});
    block.up = addParameter(at + "mlp.up_proj.weight", {f, c});
    block.down = addParameter(at + "mlp.down_proj.weight", {c, f});
    return block;
}

std::vector<at::Tensor> Llama::parametersOf(const Block& block) const {
    std::vector<at::Tensor> values;
    for (const size_t index :
         {block.attentionNorm, block.query, block.key, block.value, block.attentionOut,
          block.feedForwardNorm, block.gate, block.up, block.down})
        values.push_back(parameter(index));
    return values;
}

void Llama::initialize(at::Generator generator) {
    const at::NoGradGuard noGrad;
    for (const Parameter& parameter : parameters())
        if (parameter.decays)
            parameter.value.normal_(0.0, kLlamaInitStd, generator);
        else
            parameter.value.fill_(1.0);
}

at::Tensor Llama::project(const at::Tensor& x, size_t weight) const {
    return rm::linear(x, parameter(weight));
}

at::Tensor Llama::attention(size_t layer, const at::Tensor& x, const Pass& pass) const {
    const Block& block = m_blocks[layer];
    const auto byHead = [&](const at::Tensor& y) { // (N, H D) -> (B, T, H, D)
        return y.view({pass.rows, x.size(0) / pass.rows, -1, m_settings.headDim});
    };
    const at::Tensor query = byHead(rotated(project(x, block.query), pass.angles));
    at::Tensor key = byHead(rotated(project(x, block.key), pass.angles));
    at::Tensor value = byHead(project(x, block.value));
    if (pass.cache)
        pass.cache->extend(layer, key, value);
    // A single query at the end sees every key, so only several queries need the causal mask.
    const at::Tensor mixed = at::scaled_dot_product_attention(
        query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), {},
        pass.training ? m_settings.attentionDropout : 0.0, /*is_causal=*/query.size(1) > 1, {},
        /*enable_gqa=*/m_settings.kvHeads < m_settings.heads); // (B, H, T, D)
    const at::Tensor joined = mixed.transpose(1, 2).reshape({x.size(0), -1});
    return project(joined, block.attentionOut);
}

at::Tensor Llama::feedForward(const Block& block, const at::Tensor& x) const {
    const at::Tensor hidden = swiGlu(project(x, block.gate), project(x, block.up)); // (N, F)
    return project(hidden, block.down);
}

Llama::Stream Llama::enter(const Stream& stream, size_t weight) const {
    if (!stream.delta.defined())
        return {stream.sum, rmsNorm(stream.sum, parameter(weight), m_settings.normEps)};
    const NormedSum normed =
        addRmsNorm(stream.sum, stream.delta, parameter(weight), m_settings.normEps);
    return {normed.sum, normed.normed};
}

Llama::Stream Llama::runBlock(size_t layer, const Stream& in, const Pass& pass) const {
    const Block& block = m_blocks[layer];
    const auto [x, normed] = enter(in, block.attentionNorm);
    const auto [y, normedAgain] = enter({x, attention(layer, normed, pass)}, block.feedForwardNorm);
    return {y, feedForward(block, normedAgain)};
}

at::Tensor Llama::runBlockAgainLater(size_t layer, const at::Tensor& x, const Pass& pass) const {
    const auto run = [this, layer, pass](const at::Tensor& in) {
        const Stream out = runBlock(layer, {in, {}}, pass);
        return out.sum + out.delta;
    };
    return recomputed(run, x, parametersOf(m_blocks[layer]), m_settings.attentionDropout > 0);
}

at::Tensor Llama::forward(const at::Tensor& ids, bool training, KeyValueCache* cache) {
    const bool again = training && m_checkpointsActivations;
    const int64_t first = cache ? cache->length : 0;
    const Pass pass{ids.size(0), m_rotary.at(first, ids.size(1), ids.device()), training, cache};
    Stream x{at::embedding(parameter(m_tokenEmbedding), ids.reshape({-1})), {}};
    for (size_t layer = 0; layer < m_blocks.size(); ++layer)
        x = again ? Stream{runBlockAgainLater(layer, x.sum, pass), {}} : runBlock(layer, x, pass);
    if (cache)
        cache->length += ids.size(1);
    return enter(x, m_finalNorm).delta;
}

at::Tensor Llama::logits(const at::Tensor& ids, bool training) {
    const at::Tensor x = forward(ids, training, nullptr);
    return at::matmul(x, parameter(m_output).t()).view({ids.size(0), ids.size(1), -1});
}

at::Tensor Llama::loss(const Batch& batch, bool training) {
    const at::Tensor x = forward(batch.tensors[0], training, nullptr);
    return classifierLoss(x, {parameter(m_output), {}}, batch.tensors[1].reshape({-1}),
                          {.labelSmoothing = training ? m_labelSmoothing : 0.0});
}

double Llama::forwardFlops(const Batch& batch) const {
    const at::Tensor& ids = batch.tensors[0];
    const auto tokens = static_cast<double>(ids.numel());
    double flops = tokens * flopsOfRow({m_output});
    for (const Block& block : m_blocks)
        flops += tokens * flopsOfRow({block.query, block.key, block.value, block.attentionOut,
                                      block.gate, block.up, block.down}) +
                 flopsOfAttention(ids.size(0), ids.size(1), ids.size(1),
                                  m_settings.heads * m_settings.headDim);
    return flops;
}

Llama::KeyValueCache Llama::makeCache(int64_t capacity) const {
    const std::vector<int64_t> shape{1, capacity, m_settings.kvHeads, m_settings.headDim};
    const auto options = parameter(m_tokenEmbedding).options().requires_grad(false);
    KeyValueCache cache;
    for (size_t layer = 0; layer < m_blocks.size(); ++layer) {
        cache.keys.push_back(at::empty(shape, options));
        cache.values.push_back(at::empty(shape, options));
    }
    return cache;
}

at::Tensor Llama::nextScores(const std::vector<int32_t>& ids, KeyValueCache& cache) {
    const at::Tensor& output = parameter(m_output);
    const std::vector<int64_t> wide(ids.begin(), ids.end());
    const at::Tensor input = at::tensor(wide, at::kLong).unsqueeze(0).to(output.device());
    const at::Tensor last = forward(input, false, &cache).narrow(0, input.size(1) - 1, 1);
    return at::matmul(last, output.t()); // (1, V)
}

std::vector<int32_t> Llama::generate(std::vector<int32_t> prompt, int64_t count,
                                     const Sampling& sampling, at::Generator generator) {
    const at::InferenceMode inference;
    const auto wanted = static_cast<int64_t>(prompt.size()) + count;
    KeyValueCache cache = makeCache(std::min(wanted, m_settings.context));
    return continuation(prompt, count, m_settings.context, sampling, generator,
                        [&](const std::vector<int32_t>& ids, bool anew) {
                            if (anew)
                                cache.length = 0;
                            return nextScores(ids, cache);
                        });
}

std::string Llama::generationJson(int64_t maxTokens, const Sampling& sampling) const {
    return generationConfig(llamaTextEnds(m_settings), maxTokens, sampling);
}

} // namespace rm
