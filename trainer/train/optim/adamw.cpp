// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/adamw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

namespace rm {
namespace {

std::vector<at::Tensor> gradientsOf(const std::vector<at::Tensor>& values) {
    std::vector<at::Tensor> gradients;
    gradients.reserve(values.size());
    for (const at::Tensor& value : values)
        gradients.push_back(value.grad());
    return gradients;
}

} // namespace

AdamW::AdamW(const Model& model, const RunSpec::Optimizer& settings)
    : m_settings(settings) {
    m_decaying.weightDecay = settings.weightDecay;
    for (const Parameter& parameter : model.parameters()) {
        const at::Tensor& value = parameter.value;
        const auto options = value.options().requires_grad(false);
        m_state.push_back({at::zeros(value.sizes(), options), at::zeros(value.sizes(), options),
                           at::zeros({}, options.dtype(at::kFloat))});
        Group& group = parameter.decays ? m_decaying : m_plain;
        group.values.push_back(value);
        group.averages.push_back(m_state.back().average);
        group.squares.push_back(m_state.back().averageSquare);
        group.steps.push_back(m_state.back().step);
    }
}

void AdamW::step(double lr) {
    const at::NoGradGuard noGrad;
    for (Group* group : {&m_decaying, &m_plain}) {
        if (group->values.empty())
            continue;
        at::_foreach_add_(group->steps, 1);
        at::_fused_adamw_(group->values, gradientsOf(group->values), group->averages,
                          group->squares, {}, group->steps, lr, m_settings.beta1, m_settings.beta2,
                          group->weightDecay, m_settings.eps,
                          /*amsgrad=*/false, /*maximize=*/false);
    }
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
