// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/plugin.h"

#include <ATen/cuda/CUDAEvent.h>

#include <deque>

namespace rm {

/// StreamClock by CUDA events on the current stream. Events are used again, so a long run has as
/// many as the device lags behind the host. Those that are recorded into a graph stay with it: each
/// launch of the graph records them anew.
class CudaStreamClock final : public StreamClock {
public:
    void start(int64_t step) override;
    void lap(int phase) override;
    std::vector<StepLaps> takeFinished() override;
    void close() override;
    bool isRecording() const override;
    void replayed() override;

private:
    using Event = std::shared_ptr<at::cuda::CUDAEvent>;
    struct OpenStep {
        int64_t step = 0;
        std::vector<int> phases;
        std::vector<Event> marks; ///< one more than phases
    };

    Event mark();
    void lapInGraph(int phase);
    static bool isDone(const OpenStep& step);
    StepLaps measure(OpenStep& step);

    std::deque<OpenStep> m_steps; ///< oldest first; the last may be open
    bool m_open = false;
    std::vector<Event> m_spare;
    std::vector<std::pair<int, Event>> m_recorded; ///< laps in the graph
    bool m_wasRecording = false;
};

} // namespace rm
