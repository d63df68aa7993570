// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/world.h"

#include <functional>
#include <optional>

namespace rm {

/// A collective on a flat tensor that is in progress.
struct Transfer {
    c10::intrusive_ptr<c10d::Work> work;
    std::function<void()> unpack; ///< to be called after work->wait(), on the same thread
};

/// Collectives on flat tensors ("buckets"). Each is divided evenly by rank, with the shortest part
/// for the last rank, and may be sent in a narrower number format. sumParts() (reduce-scatter) and
/// gather() (all-gather) together do what sum() (all-reduce) does, each with half of the traffic.
/// Passes on c10d's exceptions.
class BucketCollectives {
public:
    BucketCollectives(const World& world, std::optional<at::ScalarType> format)
        : m_world(world)
        , m_format(format) {}

    at::Tensor partOf(const at::Tensor& bucket) const; ///< this rank's; may be empty

    // All ranks must start the same transfers of contiguous buckets in the same order. A bucket
    // must not be used until its transfer was unpacked.
    Transfer sum(const at::Tensor& bucket) const;      ///< over all ranks, to all ranks
    Transfer sumParts(const at::Tensor& bucket) const; ///< each part over all ranks, to its rank
    Transfer gather(const at::Tensor& bucket) const;   ///< each part from its rank to all

private:
    int64_t partSize(const at::Tensor& bucket) const;
    at::Tensor evenly(const at::Tensor& bucket, bool filled) const;

    const World& m_world;
    std::optional<at::ScalarType> m_format;
};

} // namespace rm
