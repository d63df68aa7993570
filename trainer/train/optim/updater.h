// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/optim/update_rule.h"

#include <string>

namespace rm {

/// A list of tensors with the state that their updates need. Weight decay applies only to tensors
/// that were added as decaying.
class Updater {
public:
    Updater(const RunSpec::Optimizer& settings, at::Device device);

    const std::vector<std::string_view>& stateNames() const { return m_rule->stateNames(); }

    /// Adds a dense tensor; `states`: one for each of stateNames(), with its shape and layout. All
    /// of them share storage with the caller's tensors, and must keep it.
    void add(const at::Tensor& value, const std::vector<at::Tensor>& states, bool decays);

    /// One update from `gradients`, one for each tensor as added. Waits for no device.
    void step(const std::vector<at::Tensor>& gradients, double lr, const UpdateGate& gate);

    /// Updates so far, a float32 scalar; undefined when the rule does not count them.
    const at::Tensor& stepCount() const { return m_step; }

private:
    struct Group : UpdateGroup {
        std::vector<size_t> indices; ///< into the gradients
    };

    std::unique_ptr<UpdateRule> m_rule;
    Group m_decaying, m_plain;
    std::vector<at::Tensor> m_values; ///< as added
    at::Tensor m_step;
};

} // namespace rm
