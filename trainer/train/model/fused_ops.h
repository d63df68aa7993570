// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace rm {

/// A residual stream after an addition, and its layer norm.
struct NormedSum {
    at::Tensor sum;
    at::Tensor normed;
};

/// The readers of a NormedSum's `normed`: only matrix products, so that it may already have
/// autocast's dtype, or also the residual stream, whose dtype it then keeps.
enum class NormedFor { kProducts, kResidual };

/// The last layer: hidden (N, C) -> logits (N, V).
struct OutputLayer {
    at::Tensor weight; ///< (V, C)
    at::Tensor bias;   ///< (V), or undefined; not trained
};

/// Which targets count in a classifier's loss, and its label smoothing.
struct LossRule {
    int64_t ignoreIndex = -100; ///< targets that count nothing
    double labelSmoothing = 0.0;
};

/// Operations with their gradients that a device has as one kernel. They may return undefined
/// tensors for types or sizes that they do not cover; then ATen's ops are used.
struct FusedOps {
    NormedSum (*addLayerNorm)(const at::Tensor& residual, const at::Tensor& delta,
                              const at::Tensor& weight, const at::Tensor& bias, double eps,
                              NormedFor use);
    at::Tensor (*biasGelu)(const at::Tensor& x, const at::Tensor& bias);
    at::Tensor (*classifierLoss)(const at::Tensor& hidden, const OutputLayer& layer,
                                 const at::Tensor& targets, const LossRule& rule);
};

/// Makes the functions below use `ops` for tensors that do not lie on the CPU, or with `onHost` for
/// tensors on the CPU, where a fake device has its tensors; null: ATen's ops. Process-wide, to be
/// called before any model runs. `*ops` must live as long as the process.
void setFusedOps(const FusedOps* ops, bool onHost = false);

/// sum = residual + delta (..., C); normed = layer_norm(sum) with weight and bias (C).
NormedSum addLayerNorm(const at::Tensor& residual, const at::Tensor& delta,
                       const at::Tensor& weight, const at::Tensor& bias, double eps,
                       NormedFor use = NormedFor::kProducts);

/// gelu(x weight + bias) in its tanh form: x (N, C), weight (C, F), bias (F) -> (N, F)
at::Tensor productGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// Mean cross-entropy of the logits of hidden (N, C) with the targets that count, int64 (N) -> (),
/// in float32 as torch.nn.functional.cross_entropy; the logits of the whole batch never exist at
/// once. Undefined where no kernel covers it.
at::Tensor fusedClassifierLoss(const at::Tensor& hidden, const OutputLayer& layer,
                               const at::Tensor& targets, const LossRule& rule);

} // namespace rm
