// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace rm {

/// Whether biasGelu() can take `x` here: float32 on a CPU with AVX2, outside autocast.
bool coversBiasGelu(const at::Tensor& x);

/// gelu(x + bias) in its tanh form and its gradients, for x (N, F) that coversBiasGelu() takes
/// and bias (F); the result is (N, F). One pass each way, including the bias gradient, where ATen
/// takes two and three. The sums are the same for any number of threads. Not twice
/// differentiable.
at::Tensor biasGelu(const at::Tensor& x, const at::Tensor& bias);

} // namespace rm
