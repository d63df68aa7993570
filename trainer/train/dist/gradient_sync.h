// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/world.h"
#include "trainer/train/model/model.h"

#include <functional>
#include <memory>

namespace c10d {
class Reducer;
}

namespace rm {

/// Averages gradients over the ranks by c10d::Reducer, in buckets that travel while the rest of the
/// backward pass still computes. Alone it does nothing.
class GradientSync {
public:
    /// `onComputed` runs inside backward(), on autograd's thread, when this rank's last bucket is
    /// handed over: what follows until backward() returns is exposed communication.
    GradientSync(const World& world, const Model& model, std::function<void()> onComputed);
    ~GradientSync();

    /// Drops the gradients of the step before.
    void beginStep();

    /// loss.backward(). Gradients are averaged over the ranks when `last`; else they only
    /// accumulate here, as the micro-batches before the last of a step do.
    void backward(const at::Tensor& loss, bool last);

private:
    std::function<void()> m_onComputed;
    std::vector<at::Tensor> m_values;
    std::vector<std::vector<size_t>> m_buckets;
    std::shared_ptr<c10d::Reducer> m_reducer;
    bool m_reduced = false;
    bool m_settled = false;

    void settleBuckets();
};

} // namespace rm
