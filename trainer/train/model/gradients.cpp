// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_clamp_max.h>
#include <ATen/ops/_foreach_clamp_min.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/add.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

namespace rm {

std::vector<at::Tensor> gradientsOf(const std::vector<at::Tensor>& values) {
    std::vector<at::Tensor> gradients;
    gradients.reserve(values.size());
    for (const at::Tensor& value : values)
        gradients.push_back(value.grad());
    return gradients;
}

at::Tensor normOf(const std::vector<at::Tensor>& tensors) {
    const at::NoGradGuard noGrad;
    return at::linalg_vector_norm(at::stack(at::_foreach_norm(tensors, 2)));
}

at::Tensor clippingDivisor(const at::Tensor& norm, double clip) {
    const at::NoGradGuard noGrad;
    return at::add(norm, 1e-6).div_(clip).clamp_min_(1.0);
}

void clampGradients(const std::vector<at::Tensor>& gradients, double limit) {
    const at::NoGradGuard noGrad;
    at::_foreach_clamp_max_(gradients, limit);
    at::_foreach_clamp_min_(gradients, -limit);
}

} // namespace rm
