// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/whole_optimizer.h"

#include "trainer/train/optim/gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

namespace rm {

WholeOptimizer::WholeOptimizer(const Model& model, const RunSpec::Optimizer& settings,
                               const World& world)
    : m_world(world)
    , m_values(parameterValues(model))
    , m_updater(settings, m_values.front().device()) {
    for (const Parameter& parameter : model.parameters()) {
        std::vector<at::Tensor> states;
        for (const std::string_view name : m_updater.stateNames()) {
            states.push_back(at::zeros_like(parameter.value.detach()));
            m_state.push_back({parameter.name + "." + std::string(name), states.back()});
        }
        if (m_updater.stepCount().defined())
            m_state.push_back({parameter.name + ".step", m_updater.stepCount()});
        m_updater.add(parameter.value, states, parameter.decays);
    }
}

std::vector<at::Tensor> WholeOptimizer::gradients() const {
    return gradientsOf(m_values);
}

at::Tensor WholeOptimizer::gradientNorm() const {
    return normOf(gradients());
}

void WholeOptimizer::step(double lr, const UpdateGate& gate) {
    m_updater.step(gradients(), lr, gate);
}

std::vector<TensorShape> WholeOptimizer::stateShapes() const {
    std::vector<TensorShape> shapes;
    for (const NamedTensor& state : m_state)
        shapes.push_back({state.name, state.tensor.sizes().vec()});
    return shapes;
}

std::vector<NamedTensor> WholeOptimizer::collectState() const {
    return m_world.isFirst() ? m_state : std::vector<NamedTensor>();
}

void WholeOptimizer::loadState(const TensorSource& source) {
    const at::NoGradGuard noGrad;
    std::vector<at::Tensor> tensors;
    for (const NamedTensor& state : m_state) {
        if (m_world.isFirst())
            at::Tensor(state.tensor).copy_(source(state.name));
        if (!state.tensor.is_same(m_updater.stepCount())) // which all parameters share
            tensors.push_back(state.tensor);
    }
    if (m_updater.stepCount().defined())
        tensors.push_back(m_updater.stepCount());
    m_world.broadcast(std::move(tensors));
}

} // namespace rm
