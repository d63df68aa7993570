// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/parameter_shards.h"

#include "shared/enforce.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

namespace rm {
namespace {

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

ParameterShards::ParameterShards(const World& world, const Model& model,
                                 const std::vector<std::vector<size_t>>& buckets,
                                 TraceRecorder* trace)
    : m_collectives(world, std::nullopt, trace) {
    const at::NoGradGuard noGrad;
    const std::vector<at::Tensor> parameters = parameterValues(model);
    for (const auto& indices : buckets) {
        Bucket bucket = makeBucket(world, parameters, indices);
        for (size_t i = 0; i < indices.size(); ++i)
            moveInto(bucket.values, bucket.offsets[i], parameters[indices[i]]);
        m_buckets.push_back(std::move(bucket));
    }
}

void ParameterShards::gather(PendingBuckets& pending) {
    const at::NoGradGuard noGrad;
    for (size_t i = m_buckets.size(); i-- > 0;) { // as the forward pass needs them
        Transfer transfer = m_collectives.gather(m_buckets[i].values);
        pending.expect(i, std::move(transfer.work), std::move(transfer.unpack));
    }
}

} // namespace rm
