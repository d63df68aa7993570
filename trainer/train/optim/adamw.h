// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/model/model.h"

namespace rm {

/// AdamW over all parameters by ATen's fused kernel; numerics of torch.optim.AdamW(fused=True).
class AdamW {
public:
    AdamW(const Model& model, const RunSpec::Optimizer& settings);

    /// One update from the parameters' gradients, all of which must be there.
    void step(double lr);

    /// Per parameter, in the model's order: its moments (shaped like it) and its step count (a
    /// float32 scalar, as torch.optim keeps it). Shared: copy into them to resume.
    struct State {
        at::Tensor average;
        at::Tensor averageSquare;
        at::Tensor step;
    };
    const std::vector<State>& state() const { return m_state; }

private:
    /// Tensors that share a weight decay.
    struct Group {
        double weightDecay = 0;
        std::vector<at::Tensor> values, averages, squares, steps;
    };

    RunSpec::Optimizer m_settings;
    std::vector<State> m_state;
    Group m_decaying, m_plain;
};

/// Scales all gradients by min(1, clip / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_; leaves
/// them alone when `clip` is 0. Returns the global L2 norm before, on the device: no wait.
at::Tensor clipGradients(const std::vector<at::Tensor>& values, double clip);

} // namespace rm
