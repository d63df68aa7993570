// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/metrics/registry.h"

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <functional>
#include <vector>

namespace rm {

/// Called when a phase of a step (StepReport) ends, with its metric. Must be fast.
using PhaseEnd = std::function<void(MetricId)>;

/// Buckets whose update or communication continues during the next forward pass, which awaits each
/// parameter before reading it. One thread at a time; passes on c10d's exceptions.
class PendingBuckets {
public:
    /// `buckets`: the indices of each bucket's parameters; `parameters`: their number in all.
    PendingBuckets(size_t parameters, const std::vector<std::vector<size_t>>& buckets,
                   PhaseEnd onPhase);

    /// Adds a bucket that is not pending yet; await() waits for `work`, then calls `finish`.
    void expect(size_t bucket, c10::intrusive_ptr<c10d::Work> work, std::function<void()> finish);

    /// For forward passes: returns when the parameter's bucket is finished. On an accelerator the
    /// stream waits instead of the host.
    void await(size_t parameter);

    /// Between two steps: returns when all buckets are finished.
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
