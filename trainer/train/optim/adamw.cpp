// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/adamw.h"

#include "trainer/train/optim/gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>

namespace rm {

AdamW::AdamW(const Model& model, const RunSpec::Optimizer& settings)
    : m_settings(settings) {
    m_decaying.weightDecay = settings.weightDecay;
    for (const Parameter& parameter : model.parameters()) {
        const at::Tensor& value = parameter.value;
        const auto options = value.options().requires_grad(false);
        Group& group = parameter.decays ? m_decaying : m_plain;
        group.values.push_back(value);
        group.averages.push_back(at::zeros(value.sizes(), options));
        group.squares.push_back(at::zeros(value.sizes(), options));
        group.steps.push_back(at::zeros({}, options.dtype(at::kFloat)));
        m_state.push_back({parameter.name + ".exp_avg", group.averages.back()});
        m_state.push_back({parameter.name + ".exp_avg_sq", group.squares.back()});
        m_state.push_back({parameter.name + ".step", group.steps.back()});
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

} // namespace rm
