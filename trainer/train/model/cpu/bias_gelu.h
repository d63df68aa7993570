// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace rm {

/// Whether biasGelu() can take `x` here: float32 on a CPU with AVX2, outside autocast.
bool coversBiasGelu(const at::Tensor& x);

/// gelu(x + bias) in its tanh form and its gradients: x (N, F) that coversBiasGelu() takes, bias
/// (F)
/// -> (N, F). One pass each way, the bias's gradient with it, where ATen takes two and three. The
/// same sums for any number of threads. Its gradients have none of their own.
at::Tensor biasGelu(const at::Tensor& x, const at::Tensor& bias);

} // namespace rm
