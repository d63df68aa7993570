// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/add_layer_norm_function.h"

namespace rm::fused {

/// y = gelu(x + bias) in its tanh form (gelu.h), and its gradients for x and bias; x and bias are
/// kept for the backward, x + bias is computed again there. `Kernels`: see functions.h.
template <class Kernels>
struct BiasGeluFunction : torch::autograd::Function<BiasGeluFunction<Kernels>> {
    using Context = torch::autograd::AutogradContext;
    using Tensors = torch::autograd::variable_list;

    static at::Tensor forward(Context* context, const at::Tensor& x, const at::Tensor& bias) {
        BiasGelu a;
        a.columns = bias.numel();
        a.rows = x.numel() / a.columns;
        a.number = numberOf(x.scalar_type());
        a.biasNumber = numberOf(bias.scalar_type());
        at::Tensor y = at::empty_like(x);
        a.x = dataOf(x);
        a.bias = dataOf(bias);
        a.y = mutableDataOf(y);
        Kernels::run(a);
        context->save_for_backward({x, bias});
        return y;
    }

    static Tensors backward(Context* context, Tensors gradients) {
        const Tensors saved = context->get_saved_variables();
        const at::Tensor dy = gradients[0].contiguous();
        BiasGeluBackward a;
        a.columns = saved[1].numel();
        a.rows = dy.numel() / a.columns;
        a.groups = Kernels::geluGroups(dy, a.rows, a.columns);
        a.number = numberOf(dy.scalar_type());
        a.biasNumber = numberOf(saved[1].scalar_type());
        const at::Tensor dx = at::empty_like(dy);
        const at::Tensor partials = at::empty({a.groups, a.columns}, saved[1].options());
        a.x = dataOf(saved[0]);
        a.bias = dataOf(saved[1]);
        a.dy = dataOf(dy);
        a.dx = mutableDataOf(dx);
        a.biasPartials = mutableDataOf(partials);
        Kernels::run(a);
        return {dx, sumOfPartials<Kernels>(partials)};
    }
};

/// FusedOps::biasGelu by these kernels: x (..., columns), bias (columns) in x's wide type.
/// Undefined if the kernels do not cover the types or x is empty; the caller then uses ATen's ops.
template <class Kernels>
at::Tensor biasGelu(const at::Tensor& x, const at::Tensor& bias) {
    const at::ScalarType type = x.scalar_type();
    if (!Kernels::covers(type) || bias.scalar_type() != wideTypeOf(type) || x.numel() == 0)
        return {};
    return BiasGeluFunction<Kernels>::apply(x.contiguous(), bias.contiguous());
}

} // namespace rm::fused
