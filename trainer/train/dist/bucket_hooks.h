// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/parameter_shards.h"

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace rm {

using BucketHook = c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>>;

/// What c10d::Reducer's hooks need to know.
struct BucketTravel {
    c10::intrusive_ptr<c10d::ProcessGroup> group;
    std::optional<at::ScalarType> compressedTo; ///< number format on the way; none: as they are
    std::function<void()> onLast;               ///< called when the last bucket of a step sets out
};

/// Sums every bucket over all ranks, to all ranks.
std::unique_ptr<BucketHook> makeAllreduceHook(BucketTravel travel);

/// Sums every bucket over all ranks, each rank's shard to that rank: into
/// ParameterShards::Bucket::gradient. What the Reducer has afterwards is this rank's own.
class ScatterHook final : public BucketHook {
public:
    ScatterHook(BucketTravel travel, const std::vector<at::Tensor>& parameters,
                ParameterShards& shards);
    c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override;

    /// Waits, after the backward pass, until the shards are there.
    void finish();

private:
    struct Pending {
        c10::intrusive_ptr<c10d::Work> work;
        at::Tensor whole, shard; ///< as they travel
        size_t bucket = 0;
    };

    BucketTravel m_travel;
    ParameterShards& m_shards;
    std::map<const c10::TensorImpl*, size_t> m_bucketOf; ///< by its first parameter
    std::vector<Pending> m_pending;
};

} // namespace rm
