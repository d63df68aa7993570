// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/updater.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/zeros.h>

namespace rm {

Updater::Updater(const RunSpec::Optimizer& settings, at::Device device)
    : m_rule(makeUpdateRule(settings)) {
    m_decaying.weightDecay = settings.weightDecay;
    for (Group* group : {&m_decaying, &m_plain})
        group->states.resize(stateNames().size());
    if (m_rule->countsSteps())
        m_step = at::zeros({}, at::TensorOptions(at::kFloat).device(device));
}

void Updater::add(const at::Tensor& value, const std::vector<at::Tensor>& states, bool decays) {
    Group& group = decays ? m_decaying : m_plain;
    group.values.push_back(value);
    group.indices.push_back(m_count++);
    for (size_t i = 0; i < states.size(); ++i)
        group.states[i].push_back(states[i]);
}

void Updater::step(const std::vector<at::Tensor>& gradients, double lr, const UpdateGate& gate) {
    const at::NoGradGuard noGrad;
    if (m_step.defined() && gate.skip.defined())
        m_step.add_(at::rsub(gate.skip, 1));
    else if (m_step.defined())
        m_step.add_(1);
    for (const Group* group : {&m_decaying, &m_plain}) {
        if (group->values.empty())
            continue;
        std::vector<at::Tensor> mine;
        mine.reserve(group->indices.size());
        for (const size_t index : group->indices)
            mine.push_back(gradients[index]);
        m_rule->apply(*group, mine, m_step, lr, gate);
    }
}

} // namespace rm
