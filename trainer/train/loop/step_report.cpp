// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/step_report.h"

#include "shared/io/clock.h"

#include <algorithm>

namespace rm {

StepReport::StepReport(const Session& session)
    : m_telemetry(*session.telemetry)
    , m_clock(session.device.plugin->makeClock()) {}

void StepReport::beginStep(int64_t step, bool logged) {
    m_step = step;
    m_logged = logged;
    m_began = monotonicNowNs();
    if (logged)
        m_clock->start(step);
}

void StepReport::lap(MetricId id) {
    if (m_logged || m_clock->isRecording())
        m_clock->lap(id);
}

RecordedLaps StepReport::takeRecorded() {
    return m_clock->takeRecorded();
}

void StepReport::replayed(const RecordedLaps& laps) {
    if (m_logged)
        m_clock->replayed(laps);
}

void StepReport::endStep() {
    if (m_logged)
        m_clock->close();
    m_logged = false; // no lap until the next step begins
    m_busyNs += monotonicNowNs() - m_began;
    ++m_busySteps;
}

void StepReport::pushSums(const StepLaps& laps) {
    m_sums.clear(); // a phase recurs with every micro-batch
    for (const auto& [phase, ms] : laps.ms) {
        const auto sum = std::find_if(m_sums.begin(), m_sums.end(),
                                      [phase = phase](const auto& s) { return s.first == phase; });
        if (sum == m_sums.end())
            m_sums.emplace_back(phase, ms);
        else
            sum->second += ms;
    }
    for (const auto& [phase, ms] : m_sums)
        m_telemetry.push(static_cast<MetricId>(phase), ms);
}

void StepReport::pushFinishedLaps() {
    for (const StepLaps& laps : m_clock->takeFinished()) {
        pushSums(laps);
        if (laps.step != m_step)
            m_telemetry.endStep(laps.step, false);
    }
}

void StepReport::publish(const Figures& figures, int64_t targets, MetricId throughput) {
    const double busyMs = static_cast<double>(m_busyNs) / 1e6;
    m_stepMs = busyMs / static_cast<double>(m_busySteps);
    m_targetsPerSec = static_cast<double>(targets) / m_stepMs * 1e3;
    m_busyNs = 0;
    m_busySteps = 0;
    pushFinishedLaps();
    m_telemetry.push(metric::kTrainLoss, static_cast<float>(figures.loss));
    m_telemetry.push(metric::kTrainLr, static_cast<float>(figures.lr));
    m_telemetry.push(metric::kTrainGradNorm, static_cast<float>(figures.gradNorm));
    if (figures.lossScale)
        m_telemetry.push(metric::kTrainLossScale, static_cast<float>(*figures.lossScale));
    if (figures.skipped)
        m_telemetry.push(metric::kTrainSkippedSteps, static_cast<float>(*figures.skipped));
    m_telemetry.push(throughput, static_cast<float>(m_targetsPerSec));
    m_telemetry.push(metric::kTrainStepMs, static_cast<float>(m_stepMs));
    m_telemetry.endStep(m_step);
}

void StepReport::publishAlone(MetricId id, double value, int64_t step) {
    m_telemetry.push(id, static_cast<float>(value));
    m_telemetry.endStep(step);
}

} // namespace rm
