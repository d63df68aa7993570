// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/bucket_collectives.h"
#include "trainer/train/dist/pending_buckets.h"

#include <functional>
#include <vector>

namespace rm {

/// Indices of parameters whose gradients travel together, first to arrive first. A bucket is full
/// as soon as it holds `bytes`, or a 48th of the model if that is less but 1 MiB at least; the
/// first already at 1 MiB, so that the network begins early. The last holds 1 MiB at most if the
/// tensors allow: nothing is left to compute while it travels.
std::vector<std::vector<size_t>> gradientBuckets(const std::vector<at::Tensor>& values,
                                                 int64_t bytes);

/// Gradients that travel together.
struct GradientBucket {
    std::vector<size_t> parameters; ///< indices into the model's, as they lie in `sum`
    bool comesWhole = false; ///< within the backward pass; of others only `mine` is valid then
    at::Tensor sum;          ///< over all ranks: c10d::Reducer's bucket of this step, flat
    at::Tensor mine;         ///< this rank's part of `sum`, which may be empty
};

/// The sums of all gradients over the ranks, as a backward pass leaves them with this rank. A third
/// of a step's traffic can hide behind the forward pass, which takes half as long as the backward
/// pass: of the first two thirds to arrive, which the forward pass needs last, gather() sends half.
/// Collectives within a forward pass (synchronized batch norm) queue behind it.
class GradientBuckets {
public:
    /// `inParts`: no bucket comes whole, since nobody needs more than its part (ZeRO-1).
    GradientBuckets(const BucketCollectives& collectives, const std::vector<at::Tensor>& values,
                    const std::vector<std::vector<size_t>>& layout, bool inParts);

    const BucketCollectives& collectives() const { return m_collectives; }
    std::vector<GradientBucket>& all() { return m_buckets; }
    const std::vector<GradientBucket>& all() const { return m_buckets; }

    /// What this rank has of the sums: whole ones, parts of the others.
    std::vector<at::Tensor> sums() const;

    /// L2 norm of all gradients, a scalar on their device. All ranks call it together.
    at::Tensor norm(const World& world) const;

    /// Completes the buckets that did not come whole. `onWhole` is called with the index of every
    /// bucket when it is: at once, or when a forward pass needs it. All ranks call it together.
    void gather(PendingBuckets& pending, const std::function<void(size_t)>& onWhole);

private:
    BucketCollectives m_collectives;
    std::vector<GradientBucket> m_buckets;
};

} // namespace rm
