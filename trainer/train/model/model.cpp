// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/model.h"

#include "trainer/train/model/gpt.h"

#include <ATen/ops/empty.h>

namespace rm {

Batch toDevice(Batch batch, at::Device device) {
    if (device.is_cpu())
        return batch;
    for (at::Tensor& tensor : batch.tensors) // pinned, so that the copy waits for nothing
        tensor = tensor.pin_memory().to(device, /*non_blocking=*/true);
    return batch;
}

size_t Model::addParameter(std::string name, at::IntArrayRef shape) {
    at::Tensor value = at::empty(shape, at::kFloat);
    value.set_requires_grad(true);
    m_parameters.push_back({std::move(name), std::move(value), shape.size() >= 2});
    return m_parameters.size() - 1;
}

void Model::moveTo(at::Device device) {
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

int64_t parameterCount(const Model& model) {
    int64_t count = 0;
    for (const Parameter& parameter : model.parameters())
        count += parameter.value.numel();
    return count;
}

std::unique_ptr<Model> makeModel(const RunSpec& spec, int64_t vocabSize) {
    return std::make_unique<Gpt>(spec.model, vocabSize);
}

} // namespace rm
