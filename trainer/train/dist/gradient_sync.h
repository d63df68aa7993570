// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/dist/gradient_buckets.h"
#include "trainer/train/dist/parameter_shards.h"

#include <memory>

namespace c10d {
class Reducer;
}

namespace rm {

class BucketHook;

/// Sums gradients over the ranks with c10d::Reducer, in buckets whose communication overlaps the
/// backward pass and then the next forward pass. With one rank it does nothing.
class GradientSync {
public:
    /// `onPhase` is called inside backward(), on autograd's thread, when this rank's last bucket is
    /// sent (the rest of backward() is exposed communication), and inside forward passes that wait
    /// for values. `sharded` moves the parameters' storage, so nothing may refer to it yet. The
    /// model must outlive this. `trace`: is told of the collectives.
    GradientSync(const World& world, Model& model, const RunSpec::Distribution& settings,
                 bool sharded, PhaseEnd onPhase, TraceRecorder* trace = nullptr);
    ~GradientSync();

    // Null with one rank.
    GradientBuckets* buckets() { return m_buckets.get(); }
    ParameterShards* shards() { return m_shards.get(); } ///< null when not sharded, too
    PendingBuckets* pending() { return m_pending.get(); }

    /// Drops the gradients of the previous step.
    void beginStep();

    /// Instead of beginStep(), with one rank: zeroes the gradients without moving them in memory.
    void beginStepInPlace();

    /// loss.backward(seed). Sums the gradients over the ranks if `last`, the last micro-batch of a
    /// step; else they only accumulate on this rank.
    void backward(const at::Tensor& loss, const at::Tensor& seed, bool last);

    /// Waits until the last update of the weights is complete. Forward passes wait by themselves;
    /// call it before any other access to weights or optimizer state.
    void settle();

private:
    void makeReducer();
    void settleBuckets();

    const World& m_world;
    Model& m_model;
    RunSpec::Distribution m_settings;
    PhaseEnd m_onPhase;
    std::vector<at::Tensor> m_values;
    std::vector<std::vector<size_t>> m_layout;
    std::unique_ptr<GradientBuckets> m_buckets;
    std::unique_ptr<ParameterShards> m_shards;
    std::unique_ptr<PendingBuckets> m_pending;
    std::shared_ptr<c10d::Reducer> m_reducer;
    BucketHook* m_hook = nullptr; ///< owned by m_reducer
    bool m_settled = false;
};

} // namespace rm
