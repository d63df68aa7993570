// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/world.h"
#include "trainer/train/model/model.h"

#include <vector>

namespace rm {

/// Indices of parameters whose gradients travel together, first to arrive first. A bucket is full
/// as soon as it holds `bytes`, or a 48th of the model if that is less but 1 MiB at least; the
/// first already at 1 MiB, so that the network begins early. The last holds 1 MiB at most if the
/// tensors allow: nothing is left to compute while it travels.
std::vector<std::vector<size_t>> gradientBuckets(const std::vector<at::Tensor>& values,
                                                 int64_t bytes);

/// The parameters of a model laid end to end, bucket by bucket, each bucket cut evenly by rank:
/// what a rank updates when the optimizer's state is sharded (ZeRO-1, arXiv 1910.02054). The
/// parameters become views of the buckets; their gradients lie in c10d::Reducer's buckets in the
/// same order.
class ParameterShards {
public:
    struct Bucket {
        std::vector<size_t> parameters; ///< indices into the model's
        std::vector<int64_t> offsets;   ///< of each of them in `values`, elements
        at::Tensor values;              ///< flat; padded with zeros so that all shards are equal
        at::Tensor mine;                ///< this rank's shard of `values`
        at::Tensor gradient;            ///< of `mine`, over all ranks; GradientSync fills it
    };

    /// Moves the parameters, which must be dense, into buckets.
    ParameterShards(const World& world, const Model& model,
                    const std::vector<std::vector<size_t>>& buckets);

    std::vector<Bucket>& buckets() { return m_buckets; }
    const std::vector<Bucket>& buckets() const { return m_buckets; }

    /// Brings every rank's shards to all ranks. All ranks call it together.
    void gather();

private:
    const World& m_world;
    std::vector<Bucket> m_buckets;
};

} // namespace rm
