// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/batch_feed.h"
#include "trainer/train/loop/training.h"

#include <functional>
#include <memory>
#include <optional>

namespace rm {

/// How a training step is computed: its gradients, then the update of the weights.
///
/// Each micro-batch counts by its share of the targets of all ranks, so that the sum of the
/// gradients is that of the mean over the step's targets however they are cut.
class Step {
public:
    /// Recorded where the device can and this rank is alone, else as it is written.
    static std::unique_ptr<Step> make(Training& training);
    virtual ~Step() = default;

    /// Reads this rank's batches of the next step, forward and backward; gradients are summed over
    /// the ranks. The mean loss over this rank's targets, on the device, until the next call.
    Result<at::Tensor> gradients();

    /// Clips and updates the weights. The gradients' norm before clipping, on the device.
    virtual at::Tensor update(double lr) = 0;

    int64_t targets() const { return m_targets; } ///< of this rank in the last step

protected:
    explicit Step(Training& training)
        : m_training(training) {}

    virtual Result<at::Tensor> computeGradients() = 0;
    /// What becomes of a batch that was read; see BatchFeed::Settings.
    virtual std::function<Batch(const Batch&)> change() { return {}; }

    Result<Batch> nextBatch();
    at::Tensor forward(const Batch& batch);
    double weightOf(const Batch& batch) const;
    at::Tensor updateWeights(double lr);

    Training& m_training;

private:
    void startReading();

    std::unique_ptr<BatchFeed> m_feed;
    int64_t m_targets = 0;               ///< of this rank, as far as its batches were read
    std::optional<int64_t> m_allTargets; ///< of all ranks; nullopt: of the only batch there is
};

} // namespace rm
