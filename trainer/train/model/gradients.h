// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace rm {

/// The gradients of `values`, in order.
std::vector<at::Tensor> gradientsOf(const std::vector<at::Tensor>& values);

/// L2 norm of all elements of all tensors, a scalar on their device: no wait.
at::Tensor normOf(const std::vector<at::Tensor>& tensors);

/// The divisor that reduces gradients with L2 norm `norm` to at most `clip`: max(1, (norm + 1e-6) /
/// clip), the inverse of the factor of torch.nn.utils.clip_grad_norm_.
at::Tensor clippingDivisor(const at::Tensor& norm, double clip);

/// Holds every element between -limit and limit, as torch.nn.utils.clip_grad_value_.
void clampGradients(const std::vector<at::Tensor>& gradients, double limit);

} // namespace rm
