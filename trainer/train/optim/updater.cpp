// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/updater.h"

#include "shared/enforce.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/zeros.h>

namespace rm {
namespace {

/// A flat view of a dense tensor in memory order. ATen's fused kernels take four times as long for
/// a channels-last tensor on a CPU, as they copy it back and forth.
at::Tensor asLine(const at::Tensor& dense) {
    return dense.detach().as_strided({dense.numel()}, {1});
}

at::Tensor asLineLike(const at::Tensor& tensor, const at::Tensor& value) {
    if (tensor.strides() == value.strides())
        return asLine(tensor);
    return asLine(at::empty_like(value.detach()).copy_(tensor));
}

} // namespace

Updater::Updater(const RunSpec::Optimizer& settings, at::Device device)
    : m_rule(makeUpdateRule(settings)) {
    m_decaying.weightDecay = settings.weightDecay;
    for (Group* group : {&m_decaying, &m_plain})
        group->states.resize(stateNames().size());
    if (m_rule->countsSteps())
        m_step = at::zeros({}, at::TensorOptions(at::kFloat).device(device));
}

void Updater::add(const at::Tensor& value, const std::vector<at::Tensor>& states, bool decays) {
    RM_ENFORCE(value.is_non_overlapping_and_dense());
    Group& group = decays ? m_decaying : m_plain;
    group.values.push_back(asLine(value));
    group.indices.push_back(m_values.size());
    for (size_t i = 0; i < states.size(); ++i) {
        RM_ENFORCE(states[i].strides() == value.strides());
        group.states[i].push_back(asLine(states[i]));
    }
    m_values.push_back(value);
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
            mine.push_back(asLineLike(gradients[index], m_values[index]));
        m_rule->apply(*group, mine, m_step, lr, gate);
    }
}

} // namespace rm
