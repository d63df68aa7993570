// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/plugin.h"
#include "trainer/train/model/batch.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace rm {

/// Runs the parts of a training step as recordings of the device (see StepGraph), so that the host
/// starts each with one call: the gradients, recorded for every shape of batch, and the update,
/// recorded once. The two are separate because the host may have to wait in between for a
/// checkpoint that is still reading the weights.
///
/// All recordings share memory. The gradients stay where the first recording allocated them; every
/// other batch, recorded or not, accumulates there. If a step has several batches, each is recorded
/// separately, since whole steps would come in too many combinations of shapes. Beyond kMostShapes,
/// and when a recording fails, batches run eagerly; existing recordings stay. If memory runs out,
/// all recordings are dropped and the step is repeated.
class GraphedStep {
public:
    static constexpr size_t kMostShapes = 64;

    struct Work {
        /// Begins a step: drops the previous gradients or, `inPlace`, zeroes them.
        std::function<void(bool inPlace)> begin;
        /// The weight of one of the step's batches: its share of their targets.
        std::function<double(const Batch&)> weight;
        /// Forward and backward pass over a batch on the device. Adds its gradients times `weight`,
        /// a float32 scalar on the device, to the current ones. Returns the batch's mean loss.
        std::function<at::Tensor(const Batch&, const at::Tensor& weight)> add;
        std::function<at::Tensor()> update;                ///< the gradients' norm
        std::function<RecordedLaps()> takeLaps;            ///< of the work recorded last
        std::function<void(const RecordedLaps&)> onReplay; ///< a recording of add() ran
        /// Called once for each cause that prevents recording from now on.
        std::function<void(const std::string& why, int64_t step)> onObstacle;
    };
    /// Null if steps cannot be recorded: on the CPU and, reported as an obstacle, with several
    /// ranks.
    static std::unique_ptr<GraphedStep> make(DevicePlugin& device, bool isAlone, Work work);

    /// The step's mean loss over all targets of its batches, until the next call.
    at::Tensor gradients(const std::vector<Batch>& batches, int64_t step);
    /// `setting`: a value of the update that can change between steps and is not on the device.
    at::Tensor update(double setting, int64_t step);

private:
    using Key = std::vector<int64_t>;
    struct Recording {
        Batch input; ///< the tensors that it reads
        at::Tensor loss;
        std::unique_ptr<StepGraph> graph;
        RecordedLaps laps;
    };

    GraphedStep(std::unique_ptr<StepGraphs> graphs, Work work);

    void sum(const std::vector<Batch>& batches, int64_t step);
    at::Tensor add(const Batch& batch, bool isWhole, int64_t step);
    at::Tensor compute(const Batch& batch, bool isWhole);
    Recording* recordingFor(const Batch& batch, bool isWhole, int64_t step);
    void begin(Recording& recording, const Batch& batch, bool isWhole);
    void report(const std::string& obstacle, int64_t step);

    std::unique_ptr<StepGraphs> m_graphs; ///< null: given up
    Work m_work;
    std::map<Key, Recording> m_recordings; ///< by the batch's shapes
    std::set<std::string> m_reported;      ///< obstacles
    at::Tensor m_loss;                     ///< these two: on the device, not in a graph's memory
    at::Tensor m_weight;
    bool m_settled = false; ///< the gradients no longer move
    std::unique_ptr<StepGraph> m_update;
    at::Tensor m_norm;
    double m_setting = 0;
};

} // namespace rm
