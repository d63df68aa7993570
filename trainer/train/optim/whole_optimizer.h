// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/optim/optimizer.h"
#include "trainer/train/optim/updater.h"

namespace rm {

/// Every rank keeps the whole state and computes the same update from the same gradients.
class WholeOptimizer final : public Optimizer {
public:
    WholeOptimizer(const Model& model, const RunSpec::Optimizer& settings, const World& world);

    std::vector<at::Tensor> gradients() const override;
    at::Tensor gradientNorm() const override;
    void step(double lr, const UpdateGate& gate) override;
    std::vector<TensorShape> stateShapes() const override;
    std::vector<NamedTensor> collectState() const override;
    void loadState(const TensorSource& source) override;

private:
    const World& m_world;
    std::vector<at::Tensor> m_values;
    Updater m_updater;
    std::vector<NamedTensor> m_state;
};

} // namespace rm
