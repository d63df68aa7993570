// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/update_rule.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>

#include <optional>

namespace rm {
namespace {

using Names = std::vector<std::string_view>;

std::optional<at::Tensor> ifDefined(const at::Tensor& tensor) {
    return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

class Adam final : public UpdateRule {
public:
    explicit Adam(const RunSpec::Optimizer& settings)
        : m_settings(settings)
        , m_isDecoupled(settings.type == "adamw") {}

    const Names& stateNames() const override {
        static const Names names = {"exp_avg", "exp_avg_sq"};
        return names;
    }
    bool countsSteps() const override { return true; }

    void apply(const UpdateGroup& group, const std::vector<at::Tensor>& gradients,
               const at::Tensor& step, double lr, const UpdateGate& gate) const override {
        const std::vector<at::Tensor> steps(group.values.size(), step);
        const auto update = [&](const auto& rate, auto* fused) {
            fused(group.values, gradients, group.states[0], group.states[1], {}, steps, rate,
                  m_settings.beta1, m_settings.beta2, group.weightDecay, m_settings.eps,
                  /*amsgrad=*/false, /*maximize=*/false, ifDefined(gate.divisor),
                  ifDefined(gate.skip));
        };
        if (gate.lr.defined())
            update(gate.lr, choose<const at::Tensor&>());
        else
            update(lr, choose<double>());
    }

private:
    template <class Rate>
    using Fused = void(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                       at::TensorList, at::TensorList, Rate, double, double, double, double, bool,
                       bool, const std::optional<at::Tensor>&, const std::optional<at::Tensor>&);

    template <class Rate>
    Fused<Rate>* choose() const {
        return m_isDecoupled ? static_cast<Fused<Rate>*>(&at::_fused_adamw_)
                             : static_cast<Fused<Rate>*>(&at::_fused_adam_);
    }

    RunSpec::Optimizer m_settings;
    bool m_isDecoupled;
};

class Sgd final : public UpdateRule {
public:
    explicit Sgd(const RunSpec::Optimizer& settings)
        : m_settings(settings) {}

    const Names& stateNames() const override {
        static const Names with = {"momentum_buffer"};
        static const Names without = {};
        return m_settings.momentum > 0 ? with : without;
    }
    bool countsSteps() const override { return false; }

    void apply(const UpdateGroup& group, const std::vector<at::Tensor>& gradients,
               const at::Tensor&, double lr, const UpdateGate& gate) const override {
        const auto update = [&](const auto& rate) {
            at::_fused_sgd_(group.values, gradients,
                            group.states.empty() ? at::TensorList() : group.states[0],
                            group.weightDecay, m_settings.momentum, rate, /*dampening=*/0,
                            m_settings.nesterov, /*maximize=*/false, /*is_first_step=*/false,
                            ifDefined(gate.divisor), ifDefined(gate.skip));
        };
        if (gate.lr.defined())
            update(gate.lr);
        else
            update(lr);
    }

private:
    RunSpec::Optimizer m_settings;
};

} // namespace

std::unique_ptr<UpdateRule> makeUpdateRule(const RunSpec::Optimizer& settings) {
    if (settings.type == "sgd")
        return std::make_unique<Sgd>(settings);
    return std::make_unique<Adam>(settings);
}

} // namespace rm
