// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/numbers.h"
#include "trainer/cuda/fused/row_slice.h"
#include "trainer/train/model/fused_ops.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

namespace rm::fused {

/// Sums partial sums (groups, columns) of rows: (columns).
template <class Kernels>
at::Tensor sumOfPartials(const at::Tensor& partials) {
    ColumnSum a;
    a.groups = partials.size(0);
    a.columns = partials.size(1);
    a.number = numberOf(partials.scalar_type());
    at::Tensor totals = at::empty({a.columns}, partials.options());
    a.partials = dataOf(partials);
    a.totals = mutableDataOf(totals);
    Kernels::run(a);
    return totals;
}

/// sum = residual + delta and normed = layerNorm(sum) * weight + bias over the last dimension, and
/// their gradients; sum and each row's mean and reciprocal deviation are kept for the backward.
/// `Kernels`: see functions.h. `normedType` is what the next op computes in.
template <class Kernels>
struct AddLayerNormFunction : torch::autograd::Function<AddLayerNormFunction<Kernels>> {
    using Context = torch::autograd::AutogradContext;
    using Tensors = torch::autograd::variable_list;

    static Tensors forward(Context* context, const at::Tensor& residual, const at::Tensor& delta,
                           const at::Tensor& weight, const at::Tensor& bias, double eps,
                           at::ScalarType normedType) {
        AddLayerNorm a;
        a.columns = weight.numel();
        a.rows = residual.numel() / a.columns;
        a.eps = eps;
        a.wide = numberOf(residual.scalar_type());
        a.narrow = numberOf(delta.scalar_type());
        a.normedAs = numberOf(normedType);
        const at::Tensor sum = at::empty(residual.sizes(), residual.options());
        const at::Tensor normed = at::empty(sum.sizes(), sum.options().dtype(normedType));
        const at::Tensor mean = at::empty({a.rows}, sum.options());
        const at::Tensor rstd = at::empty({a.rows}, sum.options());
        a.residual = dataOf(residual);
        a.delta = dataOf(delta);
        a.weight = dataOf(weight);
        a.bias = dataOf(bias);
        a.sum = mutableDataOf(sum);
        a.normed = mutableDataOf(normed);
        a.mean = mutableDataOf(mean);
        a.rstd = mutableDataOf(rstd);
        Kernels::run(a);
        context->save_for_backward({sum, weight, mean, rstd});
        context->saved_data["delta"] = static_cast<int64_t>(delta.scalar_type());
        context->set_materialize_grads(false);
        return {sum, normed};
    }

    static Tensors backward(Context* context, Tensors gradients) {
        const Tensors saved = context->get_saved_variables();
        const auto deltaType = static_cast<at::ScalarType>(context->saved_data["delta"].toInt());
        if (!gradients[1].defined()) // the normed sum was not used
            return {
                gradients[0], gradients[0].defined() ? gradients[0].to(deltaType) : at::Tensor(),
                {},           {},
                {},           {}};
        const at::Tensor& sum = saved[0];
        const at::Tensor dNormed = gradients[1].contiguous();
        const at::Tensor dSum = gradients[0].defined() ? gradients[0].contiguous() : at::Tensor();
        AddLayerNormBackward a;
        a.columns = saved[1].numel();
        a.rows = sum.numel() / a.columns;
        a.teams = Kernels::normTeams(sum, a.rows, a.columns);
        a.wide = numberOf(sum.scalar_type());
        a.narrow = numberOf(deltaType);
        a.normedAs = numberOf(dNormed.scalar_type());
        const at::Tensor dResidual = at::empty_like(sum);
        const bool sameType = deltaType == sum.scalar_type();
        const at::Tensor dDelta =
            sameType ? dResidual : at::empty(sum.sizes(), sum.options().dtype(deltaType));
        const at::Tensor partials = at::empty({2, a.teams, a.columns}, sum.options());
        a.dNormed = dataOf(dNormed);
        a.dSum = dataOf(dSum);
        a.sum = dataOf(sum);
        a.weight = dataOf(saved[1]);
        a.mean = dataOf(saved[2]);
        a.rstd = dataOf(saved[3]);
        a.dResidual = mutableDataOf(dResidual);
        a.dDelta = sameType ? nullptr : mutableDataOf(dDelta);
        a.weightPartials = mutableDataOf(partials[0]);
        a.biasPartials = mutableDataOf(partials[1]);
        Kernels::run(a);
        return {dResidual,
                dDelta,
                sumOfPartials<Kernels>(partials[0]),
                sumOfPartials<Kernels>(partials[1]),
                {},
                {}};
    }
};

/// FusedOps::addLayerNorm by these kernels. Both tensors are undefined if the kernels do not cover
/// the types or the row is too long for a team's registers; the caller then uses ATen's ops.
template <class Kernels>
NormedSum addLayerNorm(const at::Tensor& residual, const at::Tensor& delta,
                       const at::Tensor& weight, const at::Tensor& bias, double eps,
                       NormedFor use) {
    const at::ScalarType wide = residual.scalar_type();
    const bool fits = planRow(weight.numel(), true).items > 0 && residual.numel() > 0;
    if (!fits || wide != wideTypeOf(wide) || weight.scalar_type() != wide ||
        bias.scalar_type() != wide || !Kernels::covers(wide) ||
        !Kernels::covers(delta.scalar_type()) || delta.sizes() != residual.sizes())
        return {};
    const at::ScalarType normed =
        use == NormedFor::kProducts && computeTypeOf(residual) == delta.scalar_type()
            ? delta.scalar_type()
            : wide;
    auto outputs =
        AddLayerNormFunction<Kernels>::apply(residual.contiguous(), delta.contiguous(),
                                             weight.contiguous(), bias.contiguous(), eps, normed);
    return {outputs[0], outputs[1]};
}

} // namespace rm::fused
