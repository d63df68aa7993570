// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/bucket_collectives.h"
#include "trainer/train/dist/pending_buckets.h"
#include "trainer/train/model/model.h"

#include <vector>

namespace rm {

/// The parameters of a model in flat buckets, each divided evenly by rank, for sharded optimizer
/// state (ZeRO-1, arXiv 1910.02054). The parameters become views of the buckets; GradientBuckets
/// has their gradients in the same order.
class ParameterShards {
public:
    struct Bucket {
        std::vector<size_t> parameters; ///< indices into the model's parameters
        std::vector<int64_t> offsets;   ///< where each of them begins in `values`, in elements
        at::Tensor values;              ///< flat; padded with zeros so that all shards are equal
        at::Tensor mine;                ///< this rank's shard of `values`
    };

    /// Moves the parameters, which must be dense, into buckets.
    ParameterShards(const World& world, const Model& model,
                    const std::vector<std::vector<size_t>>& buckets,
                    TraceRecorder* trace = nullptr);

    std::vector<Bucket>& buckets() { return m_buckets; }
    const std::vector<Bucket>& buckets() const { return m_buckets; }

    /// Starts the all-gather of the shards. All ranks call it together.
    void gather(PendingBuckets& pending);

private:
    BucketCollectives m_collectives;
    std::vector<Bucket> m_buckets;
};

} // namespace rm
