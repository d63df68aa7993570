// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/classifier_loss.h"

#include "trainer/train/model/gemm.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace rm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Enough rows for the matrix products to be efficient, few enough for a chunk to be reused while
// it is near.
constexpr int64_t kChunkItems = int64_t{1} << 21;
constexpr int64_t kLeastRows = 128;

at::ScalarType computeType(const at::Tensor& x) {
    const auto device = x.device().type();
    return at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                     : x.scalar_type();
}

/// The tensors and settings that all chunks share.
struct Chunks {
    at::Tensor x, weight, bias, targets; ///< in the type that is computed in; bias may be undefined
    double smoothing;
    at::Tensor loss;                      ///< () float32: sum over tokens
    at::Tensor xGradient, weightGradient; ///< float32, of the sum; undefined: not wanted

    at::Tensor logits(const at::Tensor& xChunk) const;
    void add(int64_t first, int64_t count);
    void addGradients(const at::Tensor& logProbabilities, const at::Tensor& target, int64_t first);
};

at::Tensor Chunks::logits(const at::Tensor& xChunk) const {
    const at::Tensor out = at::empty({xChunk.size(0), weight.size(0)}, x.options());
    if (bias.defined())
        out.copy_(bias);
    gemm(xChunk, weight.t(), out, bias.defined() ? 1 : 0);
    return out.to(at::kFloat);
}

void Chunks::add(int64_t first, int64_t count) {
    const at::Tensor target = targets.narrow(0, first, count).unsqueeze(1); // (n, 1)
    const at::Tensor logProbabilities =
        at::_log_softmax(logits(x.narrow(0, first, count)), 1, false);
    loss.sub_(logProbabilities.gather(1, target).sum(), 1 - smoothing);
    if (smoothing > 0)
        loss.sub_(logProbabilities.sum(), smoothing / static_cast<double>(weight.size(0)));
    if (xGradient.defined())
        addGradients(logProbabilities, target, first);
}

/// The gradient of the logits: softmax minus the target distribution.
void Chunks::addGradients(const at::Tensor& logProbabilities, const at::Tensor& target,
                          int64_t first) {
    at::Tensor gradient = logProbabilities.exp_();
    gradient.scatter_add_(1, target, at::full_like(target, -(1 - smoothing), gradient.options()));
    if (smoothing > 0)
        gradient.sub_(smoothing / static_cast<double>(weight.size(0)));
    gradient = gradient.to(x.scalar_type());
    const int64_t count = target.size(0);
    const at::Tensor xChunk = x.narrow(0, first, count);
    const at::Tensor xGradientChunk = xGradient.narrow(0, first, count);
    if (x.scalar_type() == at::kFloat) {
        gemm(gradient, weight, xGradientChunk);
        gemm(gradient.t(), xChunk, weightGradient, 1);
        return;
    }
    at::Tensor narrow = at::empty_like(xChunk);
    gemm(gradient, weight, narrow);
    xGradientChunk.copy_(narrow);
    narrow = at::empty_like(weight);
    gemm(gradient.t(), xChunk, narrow);
    weightGradient.add_(narrow);
}

class ChunkedLoss : public torch::autograd::Function<ChunkedLoss> {
public:
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                              const std::optional<at::Tensor>& bias, const at::Tensor& targets,
                              double smoothing, int64_t rows, bool wantsGradients) {
        const at::ScalarType type = computeType(x);
        // Conversions are made here, once.
        const c10::impl::ExcludeDispatchKeyGuard plain(at::DispatchKey::AutocastCPU);
        const auto floats = x.options().dtype(at::kFloat);
        Chunks chunks{x.to(type),
                      weight.to(type),
                      bias ? bias->to(type) : at::Tensor(),
                      targets,
                      smoothing,
                      at::zeros({}, floats),
                      {},
                      {}};
        if (wantsGradients) {
            chunks.xGradient = at::empty(x.sizes(), floats);
            chunks.weightGradient = at::zeros(weight.sizes(), floats);
        }
        const int64_t count = x.size(0);
        for (int64_t first = 0; first < count; first += rows)
            chunks.add(first, std::min(rows, count - first));
        ctx->save_for_backward({chunks.xGradient, chunks.weightGradient});
        ctx->saved_data["scale"] = 1.0 / static_cast<double>(count);
        return chunks.loss / static_cast<double>(count);
    }

    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        variable_list saved = ctx->get_saved_variables();
        const at::Tensor scale = gradients[0] * ctx->saved_data["scale"].toDouble();
        return {saved[0].mul_(scale), saved[1].mul_(scale), {}, {}, {}, {}, {}};
    }
};

at::Tensor lossInChunks(const at::Tensor& hidden, const OutputLayer& layer,
                        const at::Tensor& targets, double smoothing, int64_t rows) {
    const at::Tensor& weight = layer.weight;
    if (rows == 0)
        rows = std::max(kLeastRows, kChunkItems / weight.size(0));
    const bool wantsGradients =
        at::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
    const auto bias = layer.bias.defined() ? std::optional(layer.bias) : std::nullopt;
    return ChunkedLoss::apply(hidden, weight, bias, targets, smoothing, rows, wantsGradients);
}

at::Tensor wholeLoss(const at::Tensor& hidden, const OutputLayer& layer, const at::Tensor& targets,
                     const LossRule& rule) {
    const at::Tensor logits = layer.bias.defined() ? at::linear(hidden, layer.weight, layer.bias)
                                                   : at::matmul(hidden, layer.weight.t()); // (N, V)
    return at::cross_entropy_loss(logits.to(at::kFloat), targets, {}, at::Reduction::Mean,
                                  rule.ignoreIndex, rule.labelSmoothing);
}

} // namespace

at::Tensor classifierLoss(const at::Tensor& hidden, const OutputLayer& layer,
                          const at::Tensor& targets, const LossRule& rule, int64_t rows) {
    if (!hidden.is_cpu()) {
        const at::Tensor fused = fusedClassifierLoss(hidden, layer, targets, rule);
        return fused.defined() ? fused : wholeLoss(hidden, layer, targets, rule);
    }
    const at::Tensor counts = targets.ne(rule.ignoreIndex);
    if (counts.all().item<bool>())
        return lossInChunks(hidden, layer, targets, rule.labelSmoothing, rows);
    const at::Tensor counting = counts.nonzero().squeeze(1);
    return lossInChunks(hidden.index_select(0, counting), layer, targets.index_select(0, counting),
                        rule.labelSmoothing, rows);
}

} // namespace rm
