// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/parameter_shards.h"

#include "shared/enforce.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>

namespace rm {
namespace {

constexpr int64_t kLeastBuckets = 48;

ParameterShards::Bucket makeBucket(const World& world, const std::vector<at::Tensor>& parameters,
                                   const std::vector<size_t>& indices) {
    ParameterShards::Bucket bucket;
    bucket.parameters = indices;
    int64_t size = 0;
    for (const size_t index : indices) {
        bucket.offsets.push_back(size);
        size += parameters[index].numel();
    }
    const int64_t shard = (size + world.size() - 1) / world.size();
    const auto options = parameters[indices.front()].options().requires_grad(false);
    bucket.values = at::zeros({shard * world.size()}, options);
    bucket.mine = bucket.values.narrow(0, shard * world.rank(), shard);
    bucket.gradient = at::zeros_like(bucket.mine);
    return bucket;
}

/// Keeps strides, hence the order of elements in memory: channels-last stays channels-last.
void moveInto(const at::Tensor& bucket, int64_t offset, at::Tensor parameter) {
    RM_ENFORCE(parameter.is_non_overlapping_and_dense());
    const at::Tensor place = bucket.as_strided(parameter.sizes(), parameter.strides(), offset);
    place.copy_(parameter.detach());
    parameter.set_data(place);
}

} // namespace

std::vector<std::vector<size_t>> gradientBuckets(const std::vector<at::Tensor>& values,
                                                 int64_t bytes) {
    int64_t left = 0;
    for (const at::Tensor& value : values)
        left += static_cast<int64_t>(value.nbytes());
    const int64_t little = std::min<int64_t>(c10d::kDefaultFirstBucketBytes, bytes);
    const int64_t usual = std::clamp(left / kLeastBuckets, little, bytes);
    std::vector<std::vector<size_t>> buckets;
    int64_t size = 0;
    for (size_t i = values.size(); i-- > 0;) {
        if (size == 0)
            buckets.emplace_back();
        buckets.back().push_back(i);
        const auto own = static_cast<int64_t>(values[i].nbytes());
        const bool leavesTheLast = left > little && left - own <= little;
        size += own;
        left -= own;
        if (leavesTheLast || size >= (buckets.size() == 1 ? little : usual))
            size = 0;
    }
    for (auto& bucket : buckets)
        std::ranges::reverse(bucket);
    return buckets;
}

ParameterShards::ParameterShards(const World& world, const Model& model,
                                 const std::vector<std::vector<size_t>>& buckets)
    : m_world(world) {
    const at::NoGradGuard noGrad;
    const std::vector<at::Tensor> parameters = parameterValues(model);
    for (const auto& indices : buckets) {
        Bucket bucket = makeBucket(world, parameters, indices);
        for (size_t i = 0; i < indices.size(); ++i)
            moveInto(bucket.values, bucket.offsets[i], parameters[indices[i]]);
        m_buckets.push_back(std::move(bucket));
    }
}

void ParameterShards::gather() {
    const at::NoGradGuard noGrad;
    std::vector<c10::intrusive_ptr<c10d::Work>> works;
    for (Bucket& bucket : m_buckets)
        works.push_back(m_world.group()->_allgather_base(bucket.values, bucket.mine));
    for (const auto& work : works)
        work->wait();
}

} // namespace rm
