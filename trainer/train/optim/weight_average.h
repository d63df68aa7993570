// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/optim/optimizer.h"

namespace rm {

/// Exponential moving average of the weights: after every step average += (1 - decay) * (weight -
/// average), starting with the weights before the first step. Equal to
/// torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn(decay) that was also updated once
/// before the first step. Buffers are not averaged. Every rank keeps the same average.
class WeightAverage {
public:
    /// Begins with the weights as they are, on their device.
    WeightAverage(const Model& model, double decay);

    /// Waits for no device.
    void update();
    /// Starts again with the current weights, in the same tensors.
    void restart();

    /// The averages under the parameters' names, sharing storage.
    std::vector<NamedTensor> tensors() const;
    const std::vector<at::Tensor>& values() const { return m_averages; }
    void load(const TensorSource& source);

    /// While it lives the model has the averages as its weights. Nothing may train meanwhile.
    class InModel {
    public:
        explicit InModel(WeightAverage* average); ///< null: changes nothing
        ~InModel();
        InModel(const InModel&) = delete;
        InModel& operator=(const InModel&) = delete;

    private:
        WeightAverage* m_average;
    };

private:
    void swap();

    std::vector<std::string> m_names;
    std::vector<at::Tensor> m_values;
    std::vector<at::Tensor> m_averages;
    double m_decay;
};

} // namespace rm
