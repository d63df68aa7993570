// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/stream_clock.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>

#include <algorithm>

namespace rm {

CudaStreamClock::Event CudaStreamClock::mark() {
    Event event;
    if (m_spare.empty()) {
        event = std::make_shared<at::cuda::CUDAEvent>(cudaEventDefault); // the default times
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
    OpenStep opened;
    opened.step = step;
    opened.marks.push_back(mark());
    m_steps.push_back(std::move(opened));
    m_open = true;
    m_wasRecording = false;
}

void CudaStreamClock::lap(int phase) {
    if (isRecording()) {
        lapInGraph(phase);
        return;
    }
    if (!m_open)
        return;
    m_steps.back().phases.push_back(phase);
    m_steps.back().marks.push_back(mark());
}

void CudaStreamClock::lapInGraph(int phase) {
    if (!m_wasRecording)
        m_recorded.clear(); // of the graph before
    m_wasRecording = true;
    auto event = std::make_shared<at::cuda::CUDAEvent>(cudaEventDefault | cudaEventExternal);
    event->record(at::cuda::getCurrentCUDAStream());
    m_recorded.emplace_back(phase, std::move(event));
}

void CudaStreamClock::replayed() {
    if (!m_open)
        return;
    for (const auto& [phase, event] : m_recorded) {
        m_steps.back().phases.push_back(phase);
        m_steps.back().marks.push_back(event);
    }
}

void CudaStreamClock::close() {
    if (m_open && m_steps.back().phases.empty()) {
        m_spare.push_back(std::move(m_steps.back().marks.front()));
        m_steps.pop_back();
    }
    m_open = false;
}

StepLaps CudaStreamClock::measure(OpenStep& step) {
    StepLaps laps{step.step, {}};
    for (size_t i = 0; i < step.phases.size(); ++i)
        laps.ms.emplace_back(step.phases[i], step.marks[i]->elapsed_time(*step.marks[i + 1]));
    for (Event& event : step.marks)
        if (event.use_count() == 1) // else the graph has it
            m_spare.push_back(std::move(event));
    return laps;
}

bool CudaStreamClock::isDone(const OpenStep& step) {
    return std::all_of(step.marks.begin(), step.marks.end(),
                       [](const Event& event) { return event->query(); });
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
