// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/classifier_loss.h"

#include "trainer/train/model/gemm.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/empty.h>
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

/// What the chunks have in common.
struct Classifier {
    at::Tensor x, weight, targets; ///< x and weight in the type that is computed in
    double smoothing;
    at::Tensor loss;                      ///< () float32: sum over tokens
    at::Tensor xGradient, weightGradient; ///< float32, undefined when not wanted; of the sum

    void addChunk(int64_t first, int64_t count);
    void addGradients(const at::Tensor& logProbabilities, const at::Tensor& target, int64_t first);
};

void Classifier::addChunk(int64_t first, int64_t count) {
    const at::Tensor logits = at::empty({count, weight.size(0)}, x.options());
    gemm(x.narrow(0, first, count), weight.t(), logits);
    const at::Tensor target = targets.narrow(0, first, count).unsqueeze(1); // (n, 1)
    const at::Tensor logProbabilities = at::_log_softmax(logits.to(at::kFloat), 1, false);
    loss.sub_(logProbabilities.gather(1, target).sum(), 1 - smoothing);
    if (smoothing > 0)
        loss.sub_(logProbabilities.sum(), smoothing / static_cast<double>(weight.size(0)));
    if (xGradient.defined())
        addGradients(logProbabilities, target, first);
}

/// Softmax minus what was wanted: the gradient of the logits.
void Classifier::addGradients(const at::Tensor& logProbabilities, const at::Tensor& target,
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

class ClassifierLoss : public torch::autograd::Function<ClassifierLoss> {
public:
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                              const at::Tensor& targets, double smoothing, int64_t rows,
                              bool wantsGradients) {
        const at::ScalarType type = computeType(x);
        const auto floats = x.options().dtype(at::kFloat);
        // Conversions are made here, once.
        const c10::impl::ExcludeDispatchKeyGuard plain(
            at::autocast::get_autocast_dispatch_key_from_device_type(x.device().type()));
        Classifier classifier{
            x.to(type), weight.to(type), targets, smoothing, at::zeros({}, floats), {}, {}};
        if (wantsGradients) {
            classifier.xGradient = at::empty(x.sizes(), floats);
            classifier.weightGradient = at::zeros(weight.sizes(), floats);
        }
        const int64_t count = x.size(0);
        for (int64_t first = 0; first < count; first += rows)
            classifier.addChunk(first, std::min(rows, count - first));
        ctx->save_for_backward({classifier.xGradient, classifier.weightGradient});
        ctx->saved_data["scale"] = 1.0 / static_cast<double>(count);
        return classifier.loss / static_cast<double>(count);
    }

    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        variable_list saved = ctx->get_saved_variables();
        const at::Tensor scale = gradients[0] * ctx->saved_data["scale"].toDouble();
        return {saved[0] * scale, saved[1].mul_(scale), {}, {}, {}, {}};
    }
};

} // namespace

at::Tensor classifierLoss(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& targets,
                          double smoothing, int64_t rows) {
    if (rows == 0)
        rows = std::max(kLeastRows, kChunkItems / weight.size(0));
    const bool wantsGradients =
        at::GradMode::is_enabled() && (x.requires_grad() || weight.requires_grad());
    return ClassifierLoss::apply(x, weight, targets, smoothing, rows, wantsGradients);
}

} // namespace rm
