// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/optim/optimizer.h"

namespace rm {

/// AdamW by ATen's fused kernel; numerics of torch.optim.AdamW(fused=True). State: exp_avg and
/// exp_avg_sq shaped like the parameter, step as a float32 scalar.
class AdamW final : public Optimizer {
public:
    AdamW(const Model& model, const RunSpec::Optimizer& settings);

    void step(double lr) override;
    std::vector<NamedTensor> state() const override { return m_state; }

private:
    /// Tensors that share a weight decay.
    struct Group {
        double weightDecay = 0;
        std::vector<at::Tensor> values, averages, squares, steps;
    };

    RunSpec::Optimizer m_settings;
    std::vector<NamedTensor> m_state;
    Group m_decaying, m_plain;
};

} // namespace rm
