// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
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

at::Tensor clipGradients(const std::vector<at::Tensor>& values, double clip) {
    const at::NoGradGuard noGrad;
    const std::vector<at::Tensor> gradients = gradientsOf(values);
    const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)));
    if (clip > 0) {
        const at::Tensor scale = (clip / (norm + 1e-6)).clamp_max(1.0);
        at::_foreach_mul_(gradients, scale);
    }
    return norm;
}

} // namespace rm
