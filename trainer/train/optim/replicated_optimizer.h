// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/optim/optimizer.h"
#include "trainer/train/optim/updater.h"

namespace rm {

class GradientBuckets;

/// Every rank keeps the whole state and computes the same update from the same gradients, bucket by
/// bucket. Some buckets are updated only when the next forward pass needs them and their gradients
/// have arrived.
class ReplicatedOptimizer final : public Optimizer {
public:
    /// `sync`: null with one rank.
    ReplicatedOptimizer(const Model& model, const RunSpec::Optimizer& settings, const World& world,
                        GradientSync* sync);

    std::vector<at::Tensor> gradients() const override;
    at::Tensor gradientNorm() const override;
    void step(double lr, const UpdateGate& gate) override;
    std::vector<TensorShape> stateShapes() const override;
    std::vector<NamedTensor> collectState() const override;
    void loadState(const TensorSource& source) override;

private:
    /// Tensors that are updated together.
    struct Part {
        std::vector<at::Tensor> values;
        Updater updater;
    };

    GradientBuckets* buckets() const; ///< null with one rank
    std::vector<NamedTensor> add(const Parameter& parameter, Part& part);

    const World& m_world;
    GradientSync* m_sync;
    std::vector<Part> m_parts; ///< as GradientSync's buckets; with one rank a single one
    std::vector<NamedTensor> m_state;
};

} // namespace rm
