// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/dist/parameter_shards.h"

#include <functional>
#include <memory>

namespace c10d {
class Reducer;
}

namespace rm {

class ScatterHook;

/// Sums gradients over the ranks by c10d::Reducer, in buckets that travel while the rest of the
/// backward pass still computes: to all ranks, or with shards each rank's part to that rank. Alone
/// it does nothing.
class GradientSync {
public:
    /// `onComputed` runs inside backward(), on autograd's thread, when this rank's last bucket is
    /// handed over: what follows until backward() returns is exposed communication. `sharded` moves
    /// the parameters' storage, to which nothing may refer yet.
    GradientSync(const World& world, const Model& model, const RunSpec::Distribution& settings,
                 bool sharded, std::function<void()> onComputed);
    ~GradientSync();

    /// Null when not sharded, or alone.
    ParameterShards* shards() { return m_shards.get(); }

    /// Drops the gradients of the step before.
    void beginStep();

    /// Instead of beginStep(), alone: gradients become zero, and stay where they lie in memory.
    void beginStepInPlace();

    /// loss.backward(seed). Gradients are summed over the ranks when `last`; else they only
    /// accumulate here, as the micro-batches before the last of a step do.
    void backward(const at::Tensor& loss, const at::Tensor& seed, bool last);

private:
    void makeReducer();
    void settleBuckets();

    c10::intrusive_ptr<c10d::ProcessGroup> m_group; ///< null: alone
    RunSpec::Distribution m_settings;
    std::function<void()> m_onComputed;
    std::vector<at::Tensor> m_values;
    std::vector<std::vector<size_t>> m_buckets;
    std::unique_ptr<ParameterShards> m_shards;
    std::shared_ptr<c10d::Reducer> m_reducer;
    ScatterHook* m_scatter = nullptr; ///< the Reducer's
    bool m_settled = false;
};

} // namespace rm
