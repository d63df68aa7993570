// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/metrics/registry.h"

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <functional>
#include <vector>

namespace rm {

/// Told when a phase of a step (StepReport) ends, by its metric; what it may do is little.
using PhaseEnd = std::function<void(MetricId)>;

/// What a step leaves on its way, bucket by bucket, while the next forward pass computes: whoever
/// reads a parameter awaits it first. One thread at a time; c10d's exceptions come through.
class PendingBuckets {
public:
    /// `buckets`: indices of the parameters in each, of `parameters` in all.
    PendingBuckets(size_t parameters, const std::vector<std::vector<size_t>>& buckets,
                   PhaseEnd onPhase);

    /// Of a bucket of which nothing else is expected: `finish` runs in await(), after `work`.
    void expect(size_t bucket, c10::intrusive_ptr<c10d::Work> work, std::function<void()> finish);

    /// Within a forward pass: returns when the bucket of this parameter is there and finished. What
    /// a device has not done yet, its stream waits for.
    void await(size_t parameter);

    /// Between two steps: returns when everything is.
    void awaitAll();

private:
    struct Expected {
        c10::intrusive_ptr<c10d::Work> work; ///< null: nothing
        std::function<void()> finish;
    };

    std::vector<size_t> m_bucketOf; ///< by parameter
    std::vector<Expected> m_expected;
    PhaseEnd m_onPhase;
};

} // namespace rm
