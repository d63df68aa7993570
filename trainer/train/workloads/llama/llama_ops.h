// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/fused_ops.h"
#include "trainer/train/workloads/llama/rotary.h"

namespace rm {

/// RMSNorm of x (N, C) with weight (C), as transformers' LlamaRMSNorm: in float32
/// [Zhang & Sennrich, "Root Mean Square Layer Normalization", 2019].
at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps);

/// sum = residual + delta (N, C); normed = rmsNorm(sum).
NormedSum addRmsNorm(const at::Tensor& residual, const at::Tensor& delta, const at::Tensor& weight,
                     double eps);

/// silu(gate) * up, both (N, F) [Shazeer, "GLU Variants Improve Transformer", 2020].
at::Tensor swiGlu(const at::Tensor& gate, const at::Tensor& up);

/// Rotates every head of x (N, H D) by the angles of its position; row n is at position n % T. The
/// pairs are (i, i + D / 2), as in Hugging Face's code. Computed in the wider of x's dtype and
/// float32; `x` may be overwritten.
at::Tensor rotated(const at::Tensor& x, const RotaryAngles& angles);

} // namespace rm
