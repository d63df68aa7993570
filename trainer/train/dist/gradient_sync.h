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

/// Sums gradients over the ranks by c10d::Reducer, in buckets that travel while the rest of the
/// backward pass, and then the next forward pass, still compute. Alone it does nothing.
class GradientSync {
public:
    /// `onPhase`: inside backward(), on autograd's thread, when this rank's last bucket is handed
    /// over; what follows until backward() returns is exposed communication. And inside the
    /// model's forward passes, where they wait for values. `sharded` moves the parameters'
    /// storage, to which nothing may refer yet. The model must outlive it.
    GradientSync(const World& world, Model& model, const RunSpec::Distribution& settings,
                 bool sharded, PhaseEnd onPhase);
    ~GradientSync();

    // Null alone.
    GradientBuckets* buckets() { return m_buckets.get(); }
    ParameterShards* shards() { return m_shards.get(); } ///< null when not sharded, too
    PendingBuckets* pending() { return m_pending.get(); }

    /// Drops the gradients of the step before.
    void beginStep();

    /// Instead of beginStep(), alone: gradients become zero, and stay where they lie in memory.
    void beginStepInPlace();

    /// loss.backward(seed). Gradients are summed over the ranks when `last`; else they only
    /// accumulate here, as the micro-batches before the last of a step do.
    void backward(const at::Tensor& loss, const at::Tensor& seed, bool last);

    /// Waits for what the last update left on its way to the weights. Forward passes of the model
    /// do so by themselves; whoever else reads or writes weights or optimizer state comes here.
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
    BucketHook* m_hook = nullptr; ///< the Reducer's
    bool m_settled = false;
};

} // namespace rm
