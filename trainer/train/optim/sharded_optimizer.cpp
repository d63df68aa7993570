// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/sharded_optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

namespace rm {
namespace {

using Bucket = ParameterShards::Bucket;

/// The parameter's part of a flat bucket, in its own shape.
at::Tensor viewOf(const at::Tensor& flat, int64_t offset, const at::Tensor& parameter) {
    return flat.as_strided(parameter.sizes(), parameter.strides(), offset);
}

} // namespace

ShardedOptimizer::ShardedOptimizer(const Model& model, const RunSpec::Optimizer& settings,
                                   const World& world, GradientSync& sync)
    : m_model(model)
    , m_world(world)
    , m_sync(sync)
    , m_shards(*sync.shards())
    , m_updater(settings, model.parameters().front().value.device()) {
    for (const Bucket& bucket : m_shards.buckets()) {
        m_states.emplace_back();
        for (size_t i = 0; i < m_updater.stateNames().size(); ++i)
            m_states.back().push_back(at::zeros_like(bucket.mine));
        addPieces(m_states.size() - 1);
    }
}

void ShardedOptimizer::addPieces(size_t index) {
    const Bucket& bucket = m_shards.buckets()[index];
    const int64_t shard = bucket.mine.numel();
    const int64_t begin = shard * m_world.rank();
    for (size_t i = 0; i < bucket.parameters.size(); ++i) {
        const Parameter& parameter = m_model.parameters()[bucket.parameters[i]];
        const int64_t from = std::max(bucket.offsets[i] - begin, int64_t{0});
        const int64_t to = std::min(bucket.offsets[i] + parameter.value.numel() - begin, shard);
        if (from >= to)
            continue;
        std::vector<at::Tensor> states;
        for (const at::Tensor& flat : m_states[index])
            states.push_back(flat.narrow(0, from, to - from));
        m_updater.add(bucket.mine.narrow(0, from, to - from), states, parameter.decays);
        m_pieces.push_back({index, from, to - from});
    }
}

std::vector<at::Tensor> ShardedOptimizer::gradients() const {
    std::vector<at::Tensor> gradients;
    for (const Piece& piece : m_pieces)
        gradients.push_back(
            m_sync.buckets()->all()[piece.bucket].mine.narrow(0, piece.offset, piece.size));
    return gradients;
}

at::Tensor ShardedOptimizer::gradientNorm() const {
    return m_sync.buckets()->norm(m_world);
}

void ShardedOptimizer::step(double lr, const UpdateGate& gate) {
    m_updater.step(gradients(), lr, gate);
    m_shards.gather(*m_sync.pending());
}

std::string ShardedOptimizer::nameOf(size_t parameter, size_t state) const {
    return m_model.parameters()[parameter].name + "." + std::string(m_updater.stateNames()[state]);
}

std::vector<TensorShape> ShardedOptimizer::stateShapes() const {
    std::vector<TensorShape> shapes;
    for (const Parameter& parameter : m_model.parameters()) {
        for (const std::string_view state : m_updater.stateNames())
            shapes.push_back(
                {parameter.name + "." + std::string(state), parameter.value.sizes().vec()});
        if (m_updater.stepCount().defined())
            shapes.push_back({parameter.name + ".step", {}});
    }
    return shapes;
}

/// The whole of a flat state, on rank 0's host; undefined on the others.
at::Tensor ShardedOptimizer::collectFlat(const Bucket& bucket, const at::Tensor& shard) const {
    at::Tensor whole = at::empty_like(bucket.values);
    at::Tensor mine = shard;
    m_world.group()->_allgather_base(whole, mine)->wait();
    return m_world.isFirst() ? whole.to(at::kCPU) : at::Tensor();
}

std::vector<NamedTensor> ShardedOptimizer::collectState() const {
    const at::NoGradGuard noGrad;
    std::vector<NamedTensor> all;
    // The last bucket holds the first parameters.
    for (size_t index = m_states.size(); index-- > 0;) {
        const Bucket& bucket = m_shards.buckets()[index];
        std::vector<at::Tensor> flats;
        for (const at::Tensor& shard : m_states[index])
            flats.push_back(collectFlat(bucket, shard));
        for (size_t i = 0; m_world.isFirst() && i < bucket.parameters.size(); ++i) {
            const Parameter& parameter = m_model.parameters()[bucket.parameters[i]];
            for (size_t state = 0; state < flats.size(); ++state)
                all.push_back({nameOf(bucket.parameters[i], state),
                               viewOf(flats[state], bucket.offsets[i], parameter.value), false});
            if (m_updater.stepCount().defined())
                all.push_back({parameter.name + ".step", m_updater.stepCount()});
        }
    }
    return all;
}

void ShardedOptimizer::loadFlat(const Bucket& bucket, size_t state, at::Tensor& shard,
                                const TensorSource& source) {
    at::Tensor whole = at::zeros_like(bucket.values);
    for (size_t i = 0; m_world.isFirst() && i < bucket.parameters.size(); ++i) {
        const size_t parameter = bucket.parameters[i];
        viewOf(whole, bucket.offsets[i], m_model.parameters()[parameter].value)
            .copy_(source(nameOf(parameter, state)));
    }
    m_world.broadcast({whole});
    shard.copy_(whole.narrow(0, shard.numel() * m_world.rank(), shard.numel()));
}

void ShardedOptimizer::loadState(const TensorSource& source) {
    const at::NoGradGuard noGrad;
    for (size_t index = 0; index < m_states.size(); ++index)
        for (size_t state = 0; state < m_states[index].size(); ++state)
            loadFlat(m_shards.buckets()[index], state, m_states[index][state], source);
    if (!m_updater.stepCount().defined())
        return;
    at::Tensor step = m_updater.stepCount();
    if (m_world.isFirst())
        step.copy_(source(m_model.parameters().front().name + ".step"));
    m_world.broadcast({step});
}

} // namespace rm
