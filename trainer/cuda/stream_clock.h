// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/plugin.h"

#include <ATen/cuda/CUDAEvent.h>

#include <deque>

namespace rm {

/// StreamClock by CUDA events on the current stream. Events are reused, so their number is limited
/// by how far the device lags behind the host. Events recorded into a graph stay with it; each
/// launch records them again, so they time the last one.
class CudaStreamClock final : public StreamClock {
public:
    void start(int64_t step) override;
    void lap(int phase) override;
    std::vector<StepLaps> takeFinished() override;
    void close() override;
    bool isRecording() const override;
    RecordedLaps takeRecorded() override;
    void replayed(const RecordedLaps& laps) override;

private:
    using Event = std::shared_ptr<at::cuda::CUDAEvent>;
    using GraphLaps = std::vector<std::pair<int, Event>>;
    struct Lap {
        int phase = 0;
        Event end;
        RecordedLaps graph; ///< set: a run of this graph, which has several phases
    };
    struct OpenStep {
        int64_t step = 0;
        Event begin;
        std::vector<Lap> laps;
    };

    Event mark();
    static const GraphLaps& inside(const RecordedLaps& laps);
    static bool isDone(const OpenStep& step);
    static void divide(const OpenStep& step, size_t run, StepLaps& laps);
    static const Event& beginOf(const OpenStep& step, size_t lap);
    StepLaps measure(OpenStep& step);

    std::deque<OpenStep> m_steps; ///< oldest first; the last may be open
    bool m_open = false;
    std::vector<Event> m_spare;
    GraphLaps m_recorded; ///< since takeRecorded()
};

} // namespace rm
