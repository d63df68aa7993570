// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/world.h"
#include "trainer/train/telemetry/trace_recorder.h"

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
    /// `trace`: is told of each, and outlives this.
    BucketCollectives(const World& world, std::optional<at::ScalarType> format,
                      TraceRecorder* trace = nullptr)
        : m_world(world)
        , m_format(format)
        , m_trace(trace) {}

    at::Tensor partOf(const at::Tensor& bucket) const; ///< this rank's; may be empty

    // All ranks must start the same transfers of contiguous buckets in the same order. A bucket
    // must not be used until its transfer was unpacked.
    Transfer sum(const at::Tensor& bucket) const;      ///< over all ranks, to all ranks
    Transfer sumParts(const at::Tensor& bucket) const; ///< each part over all ranks, to its rank
    Transfer gather(const at::Tensor& bucket) const;   ///< each part from its rank to all

private:
    int64_t partSize(const at::Tensor& bucket) const;
    at::Tensor evenly(const at::Tensor& bucket, bool filled) const;
    c10::intrusive_ptr<c10d::Work>
    traced(TraceKind kind, const at::Tensor& wire,
           const std::function<c10::intrusive_ptr<c10d::Work>()>& start) const;

    const World& m_world;
    std::optional<at::ScalarType> m_format;
    TraceRecorder* m_trace;
};

} // namespace rm
