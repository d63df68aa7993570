// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/world.h"
#include "trainer/train/model/model.h"
#include "trainer/train/optim/update_rule.h"

#include <c10/core/ScalarType.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rm {

class GradientSync;

/// A tensor under the name that it has in a file.
struct NamedTensor {
    std::string name;
    at::Tensor tensor;
    bool isLive = true; ///< shared with training, changed by the next step
};

/// A tensor that a file must have to be loaded.
struct TensorShape {
    std::string name;
    std::vector<int64_t> shape;
    at::ScalarType type = at::kFloat;
};

/// A tensor of a file by its name, on the host; asked only for names that are there.
using TensorSource = std::function<at::Tensor(const std::string& name)>;

/// Updates all parameters from their gradients, all of which must exist. All ranks call all methods
/// together.
class Optimizer {
public:
    virtual ~Optimizer() = default;

    /// This rank's part of the gradients that step() will use. They share storage.
    virtual std::vector<at::Tensor> gradients() const = 0;

    /// Global L2 norm of the gradients, a float32 scalar on the device. Waits for no device.
    virtual at::Tensor gradientNorm() const = 0;

    /// One update. Parts of it may be completed only by the model's next forward pass or
    /// GradientSync::settle(). Does not wait for the device.
    virtual void step(double lr, const UpdateGate& gate = {}) = 0;

    /// Its state tensors in the model's order, as "PARAMETER.exp_avg" and the like: torch.optim's
    /// names, whatever the number of ranks.
    virtual std::vector<TensorShape> stateShapes() const = 0;
    /// The state tensors on rank 0, none on the others.
    virtual std::vector<NamedTensor> collectState() const = 0;
    /// Sets the state tensors from `source`, which is asked on rank 0 only.
    virtual void loadState(const TensorSource& source) = 0;
};

/// Makes the optimizer that the spec names. The model must be on its device. `sync` provides the
/// gradients; null with one rank, which uses autograd's. Everything referred to must outlive it.
std::unique_ptr<Optimizer> makeOptimizer(const Model& model, const RunSpec::Optimizer& settings,
                                         const World& world, GradientSync* sync);

} // namespace rm
