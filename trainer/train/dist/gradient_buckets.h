// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/bucket_collectives.h"
#include "trainer/train/dist/pending_buckets.h"

#include <functional>
#include <vector>

namespace rm {

/// Indices of the parameters in each gradient bucket, in the order in which gradients arrive. A
/// bucket is full once it holds `bytes`, or a 48th of the model if that is less, but at least 1
/// MiB. The first is full at 1 MiB, so that communication starts early. The last holds at most 1
/// MiB if the tensors allow it, as no computation is left to hide it.
std::vector<std::vector<size_t>> gradientBuckets(const std::vector<at::Tensor>& values,
                                                 int64_t bytes);

/// Gradients that are reduced together.
struct GradientBucket {
    std::vector<size_t> parameters; ///< indices into the model's parameters, in the order of `sum`
    bool comesWhole = false; ///< reduced whole in the backward pass; of others only `mine` is valid
    at::Tensor sum;          ///< over all ranks: c10d::Reducer's bucket of this step, flat
    at::Tensor mine;         ///< this rank's part of `sum`, which may be empty
};

/// The sums of all gradients over the ranks, as this rank has them after a backward pass. The
/// forward pass takes half as long as the backward pass, so a third of a step's traffic can overlap
/// it: the first two thirds of the gradients, which the forward pass needs last, are only
/// reduce-scattered in the backward pass; gather() sends the other half of their traffic.
/// Collectives within a forward pass (synchronized batch norm) queue behind it.
class GradientBuckets {
public:
    /// `inParts`: all buckets are only reduce-scattered, as each rank needs only its part (ZeRO-1).
    GradientBuckets(const BucketCollectives& collectives, const std::vector<at::Tensor>& values,
                    const std::vector<std::vector<size_t>>& layout, bool inParts);

    const BucketCollectives& collectives() const { return m_collectives; }
    std::vector<GradientBucket>& all() { return m_buckets; }
    const std::vector<GradientBucket>& all() const { return m_buckets; }

    /// The sums that this rank has: whole buckets, and its parts of the others.
    std::vector<at::Tensor> sums() const;

    /// L2 norm of all gradients, a scalar on their device. All ranks call it together.
    at::Tensor norm(const World& world) const;

    /// Completes the buckets that were only reduce-scattered. `onWhole` is called with the index of
    /// every bucket once it is whole: at once, or when a forward pass needs it. All ranks call it
    /// together.
    void gather(PendingBuckets& pending, const std::function<void(size_t)>& onWhole);

private:
    BucketCollectives m_collectives;
    std::vector<GradientBucket> m_buckets;
};

} // namespace rm
