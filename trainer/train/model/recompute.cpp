// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/recompute.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <mutex>
#include <optional>

namespace rm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor randomState(at::Device device) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::scoped_lock lock(generator.mutex());
    return generator.get_state();
}

void setRandomState(at::Device device, const at::Tensor& state) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::scoped_lock lock(generator.mutex());
    generator.set_state(state);
}

/// Restores an earlier state of the generator while it lives.
class Replayed {
public:
    Replayed(at::Device device, const at::Tensor& state)
        : m_device(device) {
        if (!state.defined())
            return;
        m_now = randomState(device);
        setRandomState(device, state);
    }
    ~Replayed() {
        if (m_now.defined())
            setRandomState(m_device, m_now);
    }
    Replayed(const Replayed&) = delete;
    Replayed& operator=(const Replayed&) = delete;

private:
    at::Device m_device;
    at::Tensor m_now;
};

/// Restores an earlier autocast state, as the backward pass runs outside of the forward's scope,
/// and for a GPU on another thread.
class AutocastAgain {
public:
    AutocastAgain(at::DeviceType device, std::optional<at::ScalarType> type)
        : m_device(device)
        , m_wasOn(at::autocast::is_autocast_enabled(device)) {
        if (type)
            at::autocast::set_autocast_dtype(device, *type);
        at::autocast::set_autocast_enabled(device, type.has_value());
        at::autocast::increment_nesting();
    }
    ~AutocastAgain() {
        if (at::autocast::decrement_nesting() == 0)
            at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(m_device, m_wasOn);
    }
    AutocastAgain(const AutocastAgain&) = delete;
    AutocastAgain& operator=(const AutocastAgain&) = delete;

private:
    at::DeviceType m_device;
    bool m_wasOn;
};

/// Everything that the backward pass needs to run a block again.
struct Recipe : torch::CustomClassHolder {
    std::function<at::Tensor(const at::Tensor&)> block;
    std::optional<at::ScalarType> autocast;
    at::Tensor randomState; ///< undefined: draws nothing
};

class Recomputed : public torch::autograd::Function<Recomputed> {
public:
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, at::TensorList parameters,
                              const c10::intrusive_ptr<Recipe>& recipe) {
        variable_list saved = parameters.vec();
        saved.push_back(x);
        ctx->save_for_backward(std::move(saved));
        ctx->saved_data["recipe"] = at::IValue::make_capsule(recipe);
        return recipe->block(x);
    }

    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        const auto recipe =
            c10::static_intrusive_pointer_cast<Recipe>(ctx->saved_data["recipe"].toCapsule());
        variable_list leaves = ctx->get_saved_variables();
        const at::Tensor x = leaves.back().detach().requires_grad_(true);
        leaves.back() = x;
        at::Tensor out;
        {
            const at::AutoGradMode records(true);
            const Replayed random(x.device(), recipe->randomState);
            const AutocastAgain autocast(x.device().type(), recipe->autocast);
            out = recipe->block(x);
        }
        variable_list found = torch::autograd::grad({out}, leaves, gradients);
        variable_list result{found.back()};
        result.insert(result.end(), found.begin(), found.end() - 1);
        result.emplace_back(); // the recipe has no gradient
        return result;
    }
};

} // namespace

at::Tensor recomputed(std::function<at::Tensor(const at::Tensor&)> block, const at::Tensor& x,
                      const std::vector<at::Tensor>& parameters, bool isRandom) {
    if (!at::GradMode::is_enabled())
        return block(x);
    const auto recipe = c10::make_intrusive<Recipe>();
    recipe->block = std::move(block);
    const auto device = x.device().type();
    if (at::autocast::is_autocast_enabled(device))
        recipe->autocast = at::autocast::get_autocast_dtype(device);
    if (isRandom)
        recipe->randomState = randomState(x.device());
    return Recomputed::apply(x, at::TensorList(parameters), recipe);
}

} // namespace rm
