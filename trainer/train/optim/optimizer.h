// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/model/model.h"

#include <memory>
#include <string>
#include <vector>

namespace rm {

/// A tensor under the name that it has in a file.
struct NamedTensor {
    std::string name;
    at::Tensor tensor;
};

/// Updates all parameters from their gradients, all of which must be there.
class Optimizer {
public:
    virtual ~Optimizer() = default;

    /// One update. Waits for no device.
    virtual void step(double lr) = 0;

    /// Its tensors, in the model's order, as "PARAMETER.exp_avg" and the like: torch.optim's names.
    /// They share storage: copy into them to resume.
    virtual std::vector<NamedTensor> state() const = 0;
};

/// The one that the spec names. The model must be on its device.
std::unique_ptr<Optimizer> makeOptimizer(const Model& model, const RunSpec::Optimizer& settings);

} // namespace rm
