// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/batch_feed.h"
#include "trainer/train/loop/pace.h"
#include "trainer/train/loop/training.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace rm {

/// How a training step is computed: its gradients, then the update of the weights.
///
/// Each micro-batch is weighted by its share of the targets of all ranks. So the gradients add up
/// to those of the mean over the step's targets, however these are divided.
class Step {
public:
    /// Recorded if the device supports it and there is one rank, else eager.
    static std::unique_ptr<Step> make(Training& training);
    virtual ~Step() = default;

    /// Reads this rank's batches of the next step and runs forward and backward; sums gradients
    /// over the ranks. Returns the mean loss over this rank's targets, on the device, valid until
    /// the next call.
    Result<at::Tensor> gradients();

    /// Clips and updates the weights. Returns the gradients' norm before clipping, on the device.
    virtual at::Tensor update(double lr) = 0;

    int64_t targets() const { return m_targets; } ///< of this rank in the last step
    /// Of this rank's model, forward and backward, in the steps since the last call; see
    /// Model::forwardFlops().
    double takeFlops() { return std::exchange(m_flops, 0); }

protected:
    explicit Step(Training& training)
        : m_training(training)
        , m_slowness(training.world.rank()) {}

    virtual Result<at::Tensor> computeGradients() = 0;
    /// The change that readers make to each batch; see BatchFeed::Settings.
    virtual std::function<Batch(const Batch&)> change() { return {}; }

    Result<Batch> nextBatch();
    at::Tensor forward(const Batch& batch);
    double weightOf(const Batch& batch) const;
    at::Tensor updateWeights(double lr);

    Training& m_training;
    const Slowness m_slowness;

private:
    void startReading();

    std::unique_ptr<BatchFeed> m_feed;
    int64_t m_targets = 0; ///< of this rank, as far as its batches were read
    double m_flops = 0;
    std::optional<int64_t> m_allTargets; ///< of all ranks; nullopt: the step's only batch has all
};

} // namespace rm
