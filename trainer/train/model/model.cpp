// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/model.h"

#include <ATen/ops/empty.h>

namespace rm {

size_t Model::addParameter(std::string name, at::IntArrayRef shape, at::MemoryFormat format) {
    at::Tensor value = at::empty(shape, at::kFloat, format);
    value.set_requires_grad(true);
    m_parameters.push_back({std::move(name), std::move(value), shape.size() >= 2});
    return m_parameters.size() - 1;
}

size_t Model::addBuffer(std::string name, at::Tensor value) {
    m_buffers.push_back({std::move(name), std::move(value)});
    return m_buffers.size() - 1;
}

void Model::moveTo(at::Device device) {
    for (Buffer& buffer : m_buffers)
        buffer.value = buffer.value.to(device);
    for (Parameter& parameter : m_parameters) {
        if (parameter.value.device() == device)
            continue;
        parameter.value = parameter.value.detach().to(device);
        parameter.value.set_requires_grad(true);
    }
}

std::vector<at::Tensor> parameterValues(const Model& model) {
    std::vector<at::Tensor> values;
    values.reserve(model.parameters().size());
    for (const Parameter& parameter : model.parameters())
        values.push_back(parameter.value);
    return values;
}

double Model::flopsOfRow(const std::vector<size_t>& weights) const {
    double products = 0;
    for (const size_t index : weights)
        products += static_cast<double>(m_parameters[index].value.numel());
    return 2 * products;
}

double Model::flopsOfAttention(int64_t rows, int64_t queries, int64_t keys, int64_t width) {
    constexpr double kScoresAndSums = 2;
    return 2 * kScoresAndSums * static_cast<double>(rows * queries) *
           static_cast<double>(keys * width);
}

int64_t parameterCount(const Model& model) {
    int64_t count = 0;
    for (const Parameter& parameter : model.parameters())
        count += parameter.value.numel();
    return count;
}

std::vector<at::Tensor> replicatedTensors(const Model& model) {
    std::vector<at::Tensor> tensors;
    for (const Parameter& parameter : model.parameters())
        tensors.push_back(parameter.value.detach());
    for (const Buffer& buffer : model.buffers())
        tensors.push_back(buffer.value);
    return tensors;
}

} // namespace rm
