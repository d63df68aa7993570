// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/plugin.h"

#include <ATen/cuda/CUDAEvent.h>

#include <deque>

namespace rm {

/// StreamClock by CUDA events on the current stream. Events are used again, so a long run has as
/// many as the device lags behind the host.
class CudaStreamClock final : public StreamClock {
public:
    void start(int64_t step) override;
    void lap(int phase) override;
    std::vector<StepLaps> takeFinished() override;
    void close() override;

private:
    using Event = std::unique_ptr<at::cuda::CUDAEvent>;
    struct OpenStep {
        int64_t step = 0;
        std::vector<int> phases;
        std::vector<Event> marks; ///< one more than phases
    };

    Event mark();
    StepLaps measure(OpenStep& step);

    std::deque<OpenStep> m_steps; ///< oldest first; the last may be open
    bool m_open = false;
    std::vector<Event> m_spare;
};

} // namespace rm
