// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/stream_clock.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>

#include <utility>

namespace rm {

namespace {

#if defined(RINGMASTER_STEP_GRAPHS)
constexpr unsigned int kRecorded = cudaEventDefault | cudaEventExternal;
#else
constexpr unsigned int kRecorded = cudaEventDefault; // no graph is recorded
#endif

} // namespace

CudaStreamClock::Event CudaStreamClock::mark() {
    Event event;
    if (m_spare.empty()) {
        event = std::make_shared<at::cuda::CUDAEvent>(cudaEventDefault); // it measures time
    } else {
        event = std::move(m_spare.back());
        m_spare.pop_back();
    }
    event->record(at::cuda::getCurrentCUDAStream());
    return event;
}

bool CudaStreamClock::isRecording() const {
    return c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
}

void CudaStreamClock::start(int64_t step) {
    close();
    m_steps.push_back({step, mark(), {}});
    m_open = true;
}

void CudaStreamClock::lap(int phase) {
    if (isRecording()) {
        auto event = std::make_shared<at::cuda::CUDAEvent>(kRecorded);
        event->record(at::cuda::getCurrentCUDAStream());
        m_recorded.emplace_back(phase, std::move(event));
    } else if (m_open) {
        m_steps.back().laps.push_back({phase, mark(), nullptr});
    }
}

RecordedLaps CudaStreamClock::takeRecorded() {
    if (m_recorded.empty())
        return nullptr;
    return std::make_shared<const GraphLaps>(std::exchange(m_recorded, {}));
}

void CudaStreamClock::replayed(const RecordedLaps& laps) {
    if (m_open && laps)
        m_steps.back().laps.push_back({0, mark(), laps});
}

void CudaStreamClock::close() {
    if (m_open && m_steps.back().laps.empty()) {
        m_spare.push_back(std::move(m_steps.back().begin));
        m_steps.pop_back();
    }
    m_open = false;
}

const CudaStreamClock::GraphLaps& CudaStreamClock::inside(const RecordedLaps& laps) {
    return *static_cast<const GraphLaps*>(laps.get());
}

const CudaStreamClock::Event& CudaStreamClock::beginOf(const OpenStep& step, size_t lap) {
    return lap == 0 ? step.begin : step.laps[lap - 1].end;
}

/// Divides the time of a graph's run among its phases. Its events are those of the last run in the
/// step, which began when the lap before it ended.
void CudaStreamClock::divide(const OpenStep& step, size_t run, StepLaps& laps) {
    const auto& mine = step.laps[run];
    size_t last = run;
    for (size_t i = run + 1; i < step.laps.size(); ++i)
        if (step.laps[i].graph == mine.graph)
            last = i;
    const at::cuda::CUDAEvent* from = beginOf(step, last).get();
    float sum = 0;
    const size_t first = laps.ms.size();
    for (const auto& [phase, event] : inside(mine.graph)) {
        laps.ms.emplace_back(phase, from->elapsed_time(*event));
        sum += laps.ms.back().second;
        from = event.get();
    }
    if (last == run || sum <= 0)
        return;
    const float share = beginOf(step, run)->elapsed_time(*mine.end) / sum;
    for (size_t i = first; i < laps.ms.size(); ++i)
        laps.ms[i].second *= share;
}

StepLaps CudaStreamClock::measure(OpenStep& step) {
    StepLaps laps{step.step, {}};
    for (size_t i = 0; i < step.laps.size(); ++i)
        if (step.laps[i].graph)
            divide(step, i, laps);
        else
            laps.ms.emplace_back(step.laps[i].phase,
                                 beginOf(step, i)->elapsed_time(*step.laps[i].end));
    m_spare.push_back(std::move(step.begin));
    for (Lap& lap : step.laps)
        m_spare.push_back(std::move(lap.end));
    return laps;
}

bool CudaStreamClock::isDone(const OpenStep& step) {
    return step.laps.empty() ? step.begin->query() : step.laps.back().end->query();
}

std::vector<StepLaps> CudaStreamClock::takeFinished() {
    std::vector<StepLaps> finished;
    while (m_steps.size() > (m_open ? 1U : 0U) && isDone(m_steps.front())) {
        finished.push_back(measure(m_steps.front()));
        m_steps.pop_front();
    }
    return finished;
}

} // namespace rm
