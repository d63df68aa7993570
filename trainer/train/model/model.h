// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/model/batch.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rm {

/// A leaf that training changes. `name`, shape and layout are those of the checkpoint.
struct Parameter {
    std::string name;
    at::Tensor value;
    bool decays = false; ///< weight decay applies: matrices, never norms and biases
};

/// A tensor that the forward pass changes and training does not: running means and the like.
struct Buffer {
    std::string name;
    at::Tensor value;
};

/// The interface of a trainable network for the loop, the optimizer and checkpoints.
class Model {
public:
    virtual ~Model() = default;

    /// The parameters in the order of their use in the forward pass; gradients arrive in reverse.
    const std::vector<Parameter>& parameters() const { return m_parameters; }

    /// The buffers, which are saved and broadcast with the parameters.
    const std::vector<Buffer>& buffers() const { return m_buffers; }

    /// Sets fresh values, from `generator` alone. Called on the CPU, before moveTo().
    virtual void initialize(at::Generator generator) = 0;

    /// Moves the values; optimizer state must be made afterwards.
    void moveTo(at::Device device);

    /// Mean loss over the batch's targets; `training`: with dropout, batch statistics and
    /// smoothing.
    virtual at::Tensor loss(const Batch& batch, bool training) = 0;

    /// Floating-point operations of the forward pass for that batch, a multiplication and an
    /// addition each, of matrix products and convolutions alone: as torch.utils.flop_counter
    /// counts them. Causal attention counts as a whole, and what is recomputed not again. Only
    /// shapes are read.
    virtual double forwardFlops(const Batch& batch) const = 0;

    /// `ask` is called with a parameter's index before a forward pass reads its value, and may
    /// change the value; empty: no call. parameters() does not call it.
    void setBeforeUse(std::function<void(size_t)> ask) { m_beforeUse = std::move(ask); }

    /// config.json as the Python libraries read it.
    virtual std::string configJson() const = 0;

protected:
    /// Adds an uninitialised parameter and returns its index.
    size_t addParameter(std::string name, at::IntArrayRef shape,
                        at::MemoryFormat format = at::MemoryFormat::Contiguous);
    const at::Tensor& parameter(size_t index) const {
        if (m_beforeUse)
            m_beforeUse(index);
        return m_parameters[index].value;
    }
    /// Of one row times these matrices, or of one place of a picture under these convolutions.
    double flopsOfRow(const std::vector<size_t>& weights) const;
    /// Of scores and sums of `queries` places over `keys` places, in all `rows`; `width`: of all
    /// heads together.
    static double flopsOfAttention(int64_t rows, int64_t queries, int64_t keys, int64_t width);
    size_t addBuffer(std::string name, at::Tensor value);
    const at::Tensor& buffer(size_t index) const { return m_buffers[index].value; }

private:
    std::vector<Parameter> m_parameters;
    std::vector<Buffer> m_buffers;
    std::function<void(size_t)> m_beforeUse;
};

/// The values of all parameters, in order; they share storage with the model.
std::vector<at::Tensor> parameterValues(const Model& model);
int64_t parameterCount(const Model& model);

/// The tensors that replicas share: the values of all parameters, detached, then of all buffers.
std::vector<at::Tensor> replicatedTensors(const Model& model);

} // namespace rm
