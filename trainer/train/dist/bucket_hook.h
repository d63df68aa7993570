// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/gradient_buckets.h"

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <functional>
#include <map>

namespace rm {

/// Starts the collectives of c10d::Reducer's buckets as they fill during a backward pass: an
/// all-reduce for whole ones, else a reduce-scatter. The Reducer itself does not wait for them.
class BucketHook final : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
public:
    /// `onLast` is called when the last bucket of a step is sent. `parameters`: the model's.
    BucketHook(const World& world, GradientBuckets& buckets,
               const std::vector<at::Tensor>& parameters, std::function<void()> onLast);

    c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override;

    /// Call it after the backward pass. Returns when all buckets are complete.
    void finish();

private:
    void unpackArrived();

    GradientBuckets& m_buckets;
    std::function<void()> m_onLast;
    std::map<const c10::TensorImpl*, size_t> m_bucketOf; ///< by its first parameter
    std::vector<Transfer> m_transfers;
};

} // namespace rm
