// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace rm {

/// The gradients of `values`, in order.
std::vector<at::Tensor> gradientsOf(const std::vector<at::Tensor>& values);

/// Scales all gradients by min(1, clip / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_; leaves
/// them alone when `clip` is 0. Returns the global L2 norm before, on the device: no wait.
at::Tensor clipGradients(const std::vector<at::Tensor>& values, double clip);

} // namespace rm
