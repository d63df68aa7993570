// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/batch.h"
#include "trainer/train/device/plugin.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rm {

/// Runs the two halves of a training step, the gradients and the update, as recordings of the
/// device (see StepGraph), so that the host queues each by one call. Between the halves it is the
/// host's turn: a checkpoint may still be reading the weights. Batches must have the same shapes
/// every time; where they differ, or a recording fails, each half runs as it is written.
class StepRecorder {
public:
    struct Work {
        /// Forward and backward passes over the batches of a step, on the device: the mean loss.
        std::function<at::Tensor(const std::vector<Batch>&)> gradients;
        std::function<at::Tensor()> update; ///< the gradients' norm
        std::function<void()> onReplay;     ///< after a recording of `gradients` ran
        /// Steps, or the halves of a step, are not recorded from now on; called once for each
        /// cause.
        std::function<void(const std::string& why, int64_t step)> onObstacle;
    };
    /// `device` must outlive it. Null where steps cannot be recorded: on the CPU, and, which is an
    /// obstacle, with several ranks.
    static std::unique_ptr<StepRecorder> make(DevicePlugin& device, bool isAlone, Work work);

    at::Tensor gradients(const std::vector<Batch>& batches, int64_t step);
    /// `setting`: what of the update may change from step to step and is not on the device.
    at::Tensor update(double setting, int64_t step);

private:
    using Key = std::vector<int64_t>;

    StepRecorder(DevicePlugin& device, Work work);

    bool adopt(const std::vector<Batch>& batches);
    void begin(const std::vector<Batch>& batches, Key key);

    DevicePlugin& m_device;
    Work m_work;
    std::string m_obstacle;      ///< gradients are not recorded any more
    Key m_key;                   ///< shapes of the batches
    std::vector<Batch> m_inputs; ///< what the recording reads
    std::unique_ptr<StepGraph> m_gradients, m_update;
    at::Tensor m_loss, m_norm;
    double m_setting = 0;
    bool m_replayed = false; ///< the gradients at hand are a recording's
    int m_begun = 0;
};

} // namespace rm
