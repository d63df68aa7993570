// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>
#include <vector>

namespace rm {

/// Changes to a step's update that are decided on the device. Float32 scalars; an undefined one
/// changes nothing.
struct UpdateGate {
    at::Tensor divisor; ///< gradients are divided by it first
    at::Tensor skip;    ///< 1: no update at all
    at::Tensor lr{};    ///< replaces the host's; read again at each replay
};

/// Tensors that are updated alike. Lists of equal length.
struct UpdateGroup {
    double weightDecay = 0;
    std::vector<at::Tensor> values;
    std::vector<std::vector<at::Tensor>> states; ///< [i]: the tensors of stateNames()[i]
};

/// The mathematics of an optimizer: torch.optim's, by ATen's fused kernels.
///
///   adamw  torch.optim.AdamW: decoupled weight decay
///   adam   torch.optim.Adam: weight decay added to the gradient
///   sgd    torch.optim.SGD, dampening 0: momentum, plain or Nesterov's; weight decay added to the
///          gradient. A zero buffer gives the same first update as torch's.
class UpdateRule {
public:
    virtual ~UpdateRule() = default;

    /// torch.optim's names of its states, which begin as zeros: "exp_avg", "momentum_buffer".
    virtual const std::vector<std::string_view>& stateNames() const = 0;
    /// Whether it counts its updates (torch.optim's "step").
    virtual bool countsSteps() const = 0;

    /// Updates `group` once from `gradients`, laid out as its values, for the `step`th time: a
    /// float32 scalar. Waits for no device; may leave the gradients divided.
    virtual void apply(const UpdateGroup& group, const std::vector<at::Tensor>& gradients,
                       const at::Tensor& step, double lr, const UpdateGate& gate) const = 0;
};

std::unique_ptr<UpdateRule> makeUpdateRule(const RunSpec::Optimizer& settings);

} // namespace rm
