// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/step_report.h"

#include "shared/io/clock.h"
#include "trainer/train/device/autocast.h"
#include "trainer/train/device/peak_rate.h"

#include <algorithm>

namespace rm {

StepReport::StepReport(const Session& session)
    : m_telemetry(*session.telemetry)
    , m_device(*session.device.plugin)
    , m_clock(m_device.makeClock())
    , m_peakTflops(isComputedIn(session.spec.train.precision, session.device)
                       ? peakTflops(m_device.deviceName(), session.spec.train.precision)
                       : std::nullopt)
    , m_trace(m_telemetry, session.world.rank(), !session.device.isCpu())
    , m_firstOfNode(session.world.rank() - session.world.localRank()) {}

void StepReport::beginStep(int64_t step, bool logged) {
    if (m_trace.isOnDevice() && m_trace.isBusy()) {
        // Only around steps that are traced: the device's times count from when the host is here.
        m_device.synchronize();
        takeFinishedLaps();
    }
    m_trace.beginStep(step);
    m_step = step;
    const bool isTracedAlone = !logged && m_trace.isOpen() && m_trace.isOnDevice();
    m_isTimed = logged || isTracedAlone;
    if (isTracedAlone)
        m_tracedAlone.insert(step);
    m_began = monotonicNowNs();
    if (m_isTimed)
        m_clock->start(step);
}

void StepReport::lap(MetricId id) {
    m_trace.lap(id);
    if (m_isTimed || m_clock->isRecording())
        m_clock->lap(id);
}

RecordedLaps StepReport::takeRecorded() {
    return m_clock->takeRecorded();
}

void StepReport::replayed(const RecordedLaps& laps) {
    if (m_isTimed)
        m_clock->replayed(laps);
}

void StepReport::endStep() {
    m_trace.endWork();
    if (m_isTimed)
        m_clock->close();
    m_isTimed = false; // no lap until the next step begins
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
    keepTimes(laps.step);
}

/// Of the step whose sums were made last.
void StepReport::keepTimes(int64_t step) {
    constexpr size_t kMost = 64; // while nobody takes them
    RankTimes times;
    times.firstOfNode = m_firstOfNode;
    times.sendMs = m_sendMs.value_or(-1);
    for (const auto& [phase, ms] : m_sums) {
        const auto id = static_cast<MetricId>(phase);
        if (id == metric::kPhaseDataMs)
            times.dataMs += ms;
        else if (id == metric::kPhaseAllreduceMs)
            times.exposedMs += ms;
        else if (id != metric::kPhaseCheckpointMs)
            times.computeMs += ms;
    }
    m_times.push_back({step, times});
    if (m_times.size() > kMost)
        m_times.pop_front();
}

std::optional<StepTimes> StepReport::takeTimes() {
    if (m_times.empty())
        return std::nullopt;
    StepTimes oldest = m_times.front();
    m_times.pop_front();
    return oldest;
}

void StepReport::takeFinishedLaps() {
    for (StepLaps& laps : m_clock->takeFinished()) {
        if (laps.step == m_step)
            m_trace.deliver(laps.ms);
        if (m_tracedAlone.erase(laps.step) == 0)
            m_finished.push_back(std::move(laps));
    }
}

void StepReport::pushFinishedLaps() {
    takeFinishedLaps();
    for (const StepLaps& laps : std::exchange(m_finished, {})) {
        pushSums(laps);
        if (laps.step != m_step)
            m_telemetry.endStep(laps.step, false);
    }
}

void StepReport::publish(const Figures& figures, const Work& work, MetricId throughput) {
    const double busyMs = static_cast<double>(m_busyNs) / 1e6;
    m_stepMs = busyMs / static_cast<double>(m_busySteps);
    m_sendMs = m_sending.takeMs();
    if (m_sendMs)
        *m_sendMs /= static_cast<double>(m_busySteps);
    m_targetsPerSec = static_cast<double>(work.targets) / m_stepMs * 1e3;
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
    const double tflops = work.flops / busyMs / 1e9;
    if (tflops > 0)
        m_telemetry.push(metric::kTrainTflops, static_cast<float>(tflops));
    if (tflops > 0 && m_peakTflops)
        m_telemetry.push(metric::kTrainMfu, static_cast<float>(tflops / *m_peakTflops));
    m_telemetry.push(metric::kTrainStepMs, static_cast<float>(m_stepMs));
    m_telemetry.endStep(m_step);
}

void StepReport::publishAlone(MetricId id, double value, int64_t step) {
    m_telemetry.push(id, static_cast<float>(value));
    m_telemetry.endStep(step);
}

} // namespace rm
