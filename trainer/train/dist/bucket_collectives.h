// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/world.h"

#include <functional>
#include <optional>

namespace rm {

/// A flat tensor on its way between the ranks.
struct Transfer {
    c10::intrusive_ptr<c10d::Work> work;
    std::function<void()> unpack; ///< to be called after work->wait(), on the same thread
};

/// How flat tensors ("buckets") travel: each is cut evenly by rank, the last rank's part being the
/// shortest, and may have a narrower number format on the way. A sum over all ranks is what
/// sumParts() and then gather() do, each with half of its traffic. c10d's exceptions come through.
class BucketCollectives {
public:
    BucketCollectives(const World& world, std::optional<at::ScalarType> format)
        : m_world(world)
        , m_format(format) {}

    at::Tensor partOf(const at::Tensor& bucket) const; ///< this rank's; may be empty

    // All ranks start the same transfers of contiguous buckets in the same order. Until they are
    // unpacked nobody touches the bucket.
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
