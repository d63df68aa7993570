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
/// queues each by one call: for every shape of batch the gradients, and once for all the update.
/// Between the two it is the host's turn: a checkpoint may still be reading the weights.
///
/// All recordings share one memory. The gradients lie where the first of them has put them; every
/// other batch, recorded or not, adds to zeros there. Where a step has several batches, each is
/// recorded for itself: recordings of whole steps would be as many as there are lists of shapes.
/// Beyond kMostShapes, and where a recording fails, batches run as it is written; what is recorded
/// stays. Should memory run out beside it, all is given up, and the step begins anew.
class GraphedStep {
public:
    static constexpr size_t kMostShapes = 64;

    struct Work {
        /// Begins a step: drops the gradients of the one before or, in place, zeroes them.
        std::function<void(bool inPlace)> begin;
        /// Of a step's batches, what each counts: its share of their targets.
        std::function<double(const Batch&)> weight;
        /// Forward and backward pass over a batch on the device, which add its gradients times
        /// `weight`, a float32 scalar on the device, to those at hand: the batch's mean loss.
        std::function<at::Tensor(const Batch&, const at::Tensor& weight)> add;
        std::function<at::Tensor()> update;                ///< the gradients' norm
        std::function<RecordedLaps()> takeLaps;            ///< of what was recorded just now
        std::function<void(const RecordedLaps&)> onReplay; ///< a recording of add() ran
        /// Something is not recorded from now on; called once for each cause.
        std::function<void(const std::string& why, int64_t step)> onObstacle;
    };
    /// Null where steps cannot be recorded: on the CPU, and, which is an obstacle, with several
    /// ranks.
    static std::unique_ptr<GraphedStep> make(DevicePlugin& device, bool isAlone, Work work);

    /// The step's mean loss over all targets of its batches, until the next call.
    at::Tensor gradients(const std::vector<Batch>& batches, int64_t step);
    /// `setting`: what of the update may change from step to step and is not on the device.
    at::Tensor update(double setting, int64_t step);

private:
    using Key = std::vector<int64_t>;
    struct Recording {
        Batch input; ///< what it reads
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
    void tell(const std::string& obstacle, int64_t step);

    std::unique_ptr<StepGraphs> m_graphs; ///< null: given up
    Work m_work;
    std::map<Key, Recording> m_recordings; ///< by the batch's shapes
    std::set<std::string> m_told;          ///< obstacles
    at::Tensor m_loss;                     ///< these two are on the device, and of no recording
    at::Tensor m_weight;
    bool m_settled = false; ///< the gradients have their place for good
    std::unique_ptr<StepGraph> m_update;
    at::Tensor m_norm;
    double m_setting = 0;
};

} // namespace rm
