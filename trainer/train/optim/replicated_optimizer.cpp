// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/replicated_optimizer.h"

#include "trainer/train/dist/gradient_sync.h"
#include "trainer/train/model/gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

namespace rm {
namespace {

std::vector<std::vector<size_t>> partsOf(const Model& model, GradientSync* sync) {
    std::vector<std::vector<size_t>> parts;
    if (sync && sync->buckets()) {
        for (const GradientBucket& bucket : sync->buckets()->all())
            parts.push_back(bucket.parameters);
        return parts;
    }
    parts.emplace_back(model.parameters().size());
    std::iota(parts.front().begin(), parts.front().end(), size_t{0});
    return parts;
}

/// A copy of the gate, which the next step does not change.
UpdateGate copyOf(const UpdateGate& gate) {
    const auto copy = [](const at::Tensor& tensor) {
        return tensor.defined() ? tensor.clone() : at::Tensor();
    };
    return {copy(gate.divisor), copy(gate.skip), copy(gate.lr)};
}

} // namespace

ReplicatedOptimizer::ReplicatedOptimizer(const Model& model, const RunSpec::Optimizer& settings,
                                         const World& world, GradientSync* sync)
    : m_world(world)
    , m_sync(sync) {
    const at::Device device = model.parameters().front().value.device();
    std::vector<std::vector<NamedTensor>> states(model.parameters().size());
    for (const std::vector<size_t>& indices : partsOf(model, sync)) {
        Part& part = m_parts.emplace_back(Part{{}, {settings, device}});
        for (const size_t index : indices)
            states[index] = add(model.parameters()[index], part);
    }
    for (const std::vector<NamedTensor>& state : states)
        m_state.insert(m_state.end(), state.begin(), state.end());
}

/// Adds a parameter to a part. Returns the parameter's state.
std::vector<NamedTensor> ReplicatedOptimizer::add(const Parameter& parameter, Part& part) {
    std::vector<NamedTensor> named;
    std::vector<at::Tensor> states;
    for (const std::string_view name : part.updater.stateNames()) {
        states.push_back(at::zeros_like(parameter.value.detach()));
        named.push_back({parameter.name + "." + std::string(name), states.back()});
    }
    if (part.updater.stepCount().defined())
        named.push_back({parameter.name + ".step", part.updater.stepCount()});
    part.updater.add(parameter.value, states, parameter.decays);
    part.values.push_back(parameter.value);
    return named;
}

std::vector<at::Tensor> ReplicatedOptimizer::gradients() const {
    return buckets() ? buckets()->sums() : gradientsOf(m_parts.front().values);
}

at::Tensor ReplicatedOptimizer::gradientNorm() const {
    return buckets() ? buckets()->norm(m_world) : normOf(gradients());
}

void ReplicatedOptimizer::step(double lr, const UpdateGate& gate) {
    if (!buckets())
        return m_parts.front().updater.step(gradients(), lr, gate);
    // Kept, as beginStep() drops the gradients before all parts have used them.
    const auto kept = std::make_shared<std::vector<std::vector<at::Tensor>>>();
    for (const Part& part : m_parts)
        kept->push_back(gradientsOf(part.values));
    buckets()->gather(*m_sync->pending(), [this, kept, lr, gate = copyOf(gate)](size_t part) {
        m_parts[part].updater.step(std::exchange((*kept)[part], {}), lr, gate);
    });
}

GradientBuckets* ReplicatedOptimizer::buckets() const {
    return m_sync ? m_sync->buckets() : nullptr;
}

std::vector<TensorShape> ReplicatedOptimizer::stateShapes() const {
    std::vector<TensorShape> shapes;
    for (const NamedTensor& state : m_state)
        shapes.push_back({state.name, state.tensor.sizes().vec()});
    return shapes;
}

std::vector<NamedTensor> ReplicatedOptimizer::collectState() const {
    return m_world.isFirst() ? m_state : std::vector<NamedTensor>();
}

void ReplicatedOptimizer::loadState(const TensorSource& source) {
    const at::NoGradGuard noGrad;
    std::vector<at::Tensor> tensors;
    for (const NamedTensor& state : m_state) {
        if (m_world.isFirst())
            at::Tensor(state.tensor).copy_(source(state.name));
        const auto isIt = [&](const at::Tensor& other) { return other.is_same(state.tensor); };
        if (std::ranges::none_of(tensors, isIt)) // several parameters share a count of steps
            tensors.push_back(state.tensor);
    }
    m_world.broadcast(std::move(tensors));
}

} // namespace rm
