// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/stream_clock.h"

#include <ATen/cuda/CUDAContext.h>

namespace rm {

CudaStreamClock::Event CudaStreamClock::mark() {
    Event event;
    if (m_spare.empty()) {
        event = std::make_unique<at::cuda::CUDAEvent>(cudaEventDefault); // the default times
    } else {
        event = std::move(m_spare.back());
        m_spare.pop_back();
    }
    event->record(at::cuda::getCurrentCUDAStream());
    return event;
}

void CudaStreamClock::start(int64_t step) {
    close();
    OpenStep opened;
    opened.step = step;
    opened.marks.push_back(mark());
    m_steps.push_back(std::move(opened));
    m_open = true;
}

void CudaStreamClock::lap(int phase) {
    if (!m_open)
        return;
    m_steps.back().phases.push_back(phase);
    m_steps.back().marks.push_back(mark());
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
        m_spare.push_back(std::move(event));
    return laps;
}

std::vector<StepLaps> CudaStreamClock::takeFinished() {
    std::vector<StepLaps> finished;
    while (m_steps.size() > (m_open ? 1U : 0U) && m_steps.front().marks.back()->query()) {
        finished.push_back(measure(m_steps.front()));
        m_steps.pop_front();
    }
    return finished;
}

} // namespace rm
