// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rm {

/// A leaf that training changes. `name`, shape and layout are those of the checkpoint.
struct Parameter {
    std::string name;
    at::Tensor value;
    bool decays = false; ///< weight decay applies: matrices, never norms and biases
};

/// What one micro-batch consists of; which tensors it has is between data and model.
struct Batch {
    std::vector<at::Tensor> tensors; ///< text: inputs and targets, both int64 (B, T)
    int64_t tokens = 0;              ///< that the loss is a mean over
};

Batch toDevice(Batch batch, at::Device device);

/// A network that can be trained: all that the loop, the optimizer and checkpoints know of it.
class Model {
public:
    virtual ~Model() = default;

    /// In order of use in the forward pass, so that gradients arrive in reverse order.
    const std::vector<Parameter>& parameters() const { return m_parameters; }

    /// Fresh values, from `generator` alone. Called on the CPU, before moveTo().
    virtual void initialize(at::Generator generator) = 0;

    /// Moves the values; optimizer state must be made afterwards.
    void moveTo(at::Device device);

    /// Mean loss over the batch, with dropout if `training`.
    virtual at::Tensor loss(const Batch& batch, bool training) = 0;

    /// config.json as the Python libraries read it.
    virtual std::string configJson() const = 0;

    /// Continues `prompt` by `count` tokens drawn with `generator` alone; disturbs no other
    /// random state. Empty for models that do not write text.
    virtual std::vector<int32_t> generate(std::vector<int32_t> prompt, int64_t count,
                                          at::Generator generator) = 0;

protected:
    /// Adds an uninitialised parameter and returns its index.
    size_t addParameter(std::string name, at::IntArrayRef shape);
    const at::Tensor& parameter(size_t index) const { return m_parameters[index].value; }

private:
    std::vector<Parameter> m_parameters;
};

/// The values of all parameters, in order; they share storage with the model.
std::vector<at::Tensor> parameterValues(const Model& model);
int64_t parameterCount(const Model& model);

/// The model that the spec names.
std::unique_ptr<Model> makeModel(const RunSpec& spec, int64_t vocabSize);

} // namespace rm
