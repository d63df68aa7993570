// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/numbers.h"
#include "trainer/train/model/fused_ops.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace rm::fused {

/// The layer's product and its cross-entropy, some rows at a time. The gradients of both factors
/// are computed while a chunk's logits exist, so the backward pass only scales them.
template <class Kernels>
class ChunkedLoss {
public:
    struct Wanted {
        bool hidden = false; ///< each: whether that tensor's gradient is wanted
        bool weight = false;
    };

    ChunkedLoss(const at::Tensor& hidden, const OutputLayer& layer, const at::Tensor& targets,
                const LossRule& rule, at::ScalarType type, Wanted wanted)
        : m_hidden(hidden.to(type))
        , m_weight(padded(layer.weight, type))
        , m_bias(layer.bias)
        , m_targets(targets)
        , m_wide(hidden.options().dtype(wideTypeOf(type)))
        , m_losses(at::empty({hidden.size(0)}, m_wide))
        , m_scale(targets.ne(rule.ignoreIndex).sum().to(m_wide.dtype().toScalarType()).reciprocal())
        , m_wanted(wanted) {
        m_arguments.classes = layer.weight.size(0);
        m_arguments.rowLength = m_weight.size(0);
        m_arguments.ignoreIndex = rule.ignoreIndex;
        m_arguments.labelSmoothing = rule.labelSmoothing;
        m_arguments.number = numberOf(type);
        m_arguments.bias = dataOf(m_bias);
        m_arguments.scale = wanted.hidden || wanted.weight ? dataOf(m_scale) : nullptr;
        if (wanted.hidden)
            hiddenGradient = at::empty_like(m_hidden);
        if (wanted.weight)
            m_weightSum = at::zeros(m_weight.sizes(), m_wide);
    }

    /// Returns the mean loss and computes the wanted gradients, for an upstream gradient of 1.
    at::Tensor run() {
        const int64_t rows = m_hidden.size(0);
        const int64_t most = rowsPerChunk(rows);
        const at::Tensor buffer = at::empty({most, m_arguments.rowLength}, m_hidden.options());
        for (int64_t first = 0; first < rows; first += most)
            runChunk(first, buffer.narrow(0, 0, std::min(most, rows - first)));
        if (m_wanted.weight)
            weightGradient = m_weightSum.narrow(0, 0, m_arguments.classes);
        return m_losses.sum() * m_scale;
    }

    at::Tensor hiddenGradient; ///< (N, C)
    at::Tensor weightGradient; ///< (V, C), wide

private:
    static constexpr int64_t kPadTo = 64;      ///< classes, to whole tiles of a matrix product
    static constexpr int64_t kRowsRound = 128; ///< rows likewise

    static at::Tensor padded(const at::Tensor& weight, at::ScalarType type) {
        const int64_t classes = weight.size(0);
        const int64_t length = (classes + kPadTo - 1) / kPadTo * kPadTo;
        if (length == classes)
            return weight.to(type).contiguous();
        at::Tensor wider = at::empty({length, weight.size(1)}, weight.options().dtype(type));
        wider.narrow(0, 0, classes).copy_(weight);
        wider.narrow(0, classes, length - classes).zero_();
        return wider;
    }

    /// Chunks of nearly equal size, so that the last is not small.
    int64_t rowsPerChunk(int64_t rows) const {
        const int64_t rowBytes = m_arguments.rowLength * m_hidden.element_size();
        const int64_t most = std::max<int64_t>(1, Kernels::kChunkBytes / rowBytes);
        const int64_t chunks = (rows + most - 1) / most;
        const int64_t even = (rows + chunks - 1) / chunks;
        return std::min(rows, (even + kRowsRound - 1) / kRowsRound * kRowsRound);
    }

    void runChunk(int64_t first, at::Tensor logits) {
        const int64_t count = logits.size(0);
        const at::Tensor hidden = m_hidden.narrow(0, first, count);
        at::mm_out(logits, hidden, m_weight.t());
        CrossEntropy a = m_arguments;
        a.rows = count;
        a.logits = mutableDataOf(logits);
        a.targets = m_targets.template const_data_ptr<int64_t>() + first;
        a.losses = mutableDataOf(m_losses.narrow(0, first, count));
        Kernels::run(a);
        if (m_wanted.hidden) {
            at::Tensor gradient = hiddenGradient.narrow(0, first, count);
            at::mm_out(gradient, logits, m_weight);
        }
        if (m_wanted.weight)
            Kernels::accumulate(m_weightSum, logits.t(), hidden);
    }

    CrossEntropy m_arguments;
    at::Tensor m_hidden; ///< (N, C)
    at::Tensor m_weight; ///< (V padded, C)
    at::Tensor m_bias;   ///< (V) or undefined
    at::Tensor m_targets;
    at::TensorOptions m_wide;
    at::Tensor m_losses; ///< (N)
    at::Tensor m_scale;  ///< 1 / number of targets that count
    at::Tensor m_weightSum;
    Wanted m_wanted;
};

template <class Kernels>
struct ClassifierLossFunction : torch::autograd::Function<ClassifierLossFunction<Kernels>> {
    using Context = torch::autograd::AutogradContext;
    using Tensors = torch::autograd::variable_list;

    static at::Tensor forward(Context* context, const at::Tensor& hidden, const at::Tensor& weight,
                              const std::optional<at::Tensor>& bias, const at::Tensor& targets,
                              const LossRule& rule, at::ScalarType type, bool differentiable) {
        // The products below already have their types.
        const c10::impl::ExcludeDispatchKeyGuard noAutocast(c10::autocast_dispatch_keyset);
        ChunkedLoss<Kernels> loss(
            hidden, {weight, bias.value_or(at::Tensor())}, targets, rule, type,
            {differentiable && hidden.requires_grad(), differentiable && weight.requires_grad()});
        at::Tensor mean = loss.run();
        context->save_for_backward({loss.hiddenGradient, loss.weightGradient});
        context->saved_data["hidden"] = static_cast<int64_t>(hidden.scalar_type());
        return mean;
    }

    static Tensors backward(Context* context, Tensors gradients) {
        const Tensors saved = context->get_saved_variables();
        const auto type = static_cast<at::ScalarType>(context->saved_data["hidden"].toInt());
        const auto scaled = [&](const at::Tensor& gradient) {
            return gradient.defined() ? gradient * gradients[0] : at::Tensor();
        };
        at::Tensor hidden = scaled(saved[0]);
        if (hidden.defined())
            hidden = hidden.to(type);
        return {hidden, scaled(saved[1]), {}, {}, {}, {}, {}};
    }
};

template <class Kernels>
at::Tensor classifierLoss(const at::Tensor& hidden, const OutputLayer& layer,
                          const at::Tensor& targets, const LossRule& rule) {
    const at::ScalarType type = computeTypeOf(hidden);
    const at::Tensor& bias = layer.bias;
    const bool knowsBias =
        !bias.defined() || (bias.scalar_type() == wideTypeOf(type) && !bias.requires_grad());
    // Not in float16: without the loss scale, which is known only in the backward pass, gradients
    // would underflow.
    if (!Kernels::covers(type) || type == at::kHalf || !knowsBias ||
        layer.weight.scalar_type() != wideTypeOf(type) || hidden.dim() != 2 || hidden.numel() == 0)
        return {};
    return ClassifierLossFunction<Kernels>::apply(
        hidden.contiguous(), layer.weight,
        bias.defined() ? std::optional(bias.contiguous()) : std::nullopt, targets.contiguous(),
        rule, type, at::GradMode::is_enabled());
}

} // namespace rm::fused
