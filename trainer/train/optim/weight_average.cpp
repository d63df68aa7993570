// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/weight_average.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_lerp.h>

namespace rm {

WeightAverage::WeightAverage(const Model& model, double decay)
    : m_values(parameterValues(model))
    , m_decay(decay) {
    for (const Parameter& parameter : model.parameters()) {
        m_names.push_back(parameter.name);
        m_averages.push_back(parameter.value.detach().clone());
    }
}

void WeightAverage::update() {
    const at::NoGradGuard noGrad;
    at::_foreach_lerp_(m_averages, m_values, 1.0 - m_decay);
}

void WeightAverage::restart() {
    const at::NoGradGuard noGrad;
    for (size_t i = 0; i < m_averages.size(); ++i)
        m_averages[i].copy_(m_values[i].detach());
}

std::vector<NamedTensor> WeightAverage::tensors() const {
    std::vector<NamedTensor> tensors;
    for (size_t i = 0; i < m_names.size(); ++i)
        tensors.push_back({m_names[i], m_averages[i]});
    return tensors;
}

void WeightAverage::load(const TensorSource& source) {
    const at::NoGradGuard noGrad;
    for (size_t i = 0; i < m_names.size(); ++i)
        m_averages[i].copy_(source(m_names[i]));
}

void WeightAverage::swap() {
    const at::NoGradGuard noGrad;
    for (size_t i = 0; i < m_values.size(); ++i) {
        const at::Tensor weight = m_values[i].detach();
        m_values[i].set_data(m_averages[i]);
        m_averages[i] = weight;
    }
}

WeightAverage::InModel::InModel(WeightAverage* average)
    : m_average(average) {
    if (m_average)
        m_average->swap();
}

WeightAverage::InModel::~InModel() {
    if (m_average)
        m_average->swap();
}

} // namespace rm
