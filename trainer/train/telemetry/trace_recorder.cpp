// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/telemetry/trace_recorder.h"

#include "shared/io/clock.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>

namespace rm {
namespace {

TraceKind kindOf(MetricId phase) {
    switch (phase) {
    case metric::kPhaseDataMs:
        return TraceKind::kData;
    case metric::kPhaseForwardMs:
        return TraceKind::kForward;
    case metric::kPhaseBackwardMs:
        return TraceKind::kBackward;
    case metric::kPhaseAllreduceMs:
        return TraceKind::kAllReduceWait;
    case metric::kPhaseOptimizerMs:
        return TraceKind::kOptimizer;
    case metric::kPhaseCheckpointMs:
        return TraceKind::kCheckpoint;
    default:
        return TraceKind::kBoundary;
    }
}

} // namespace

TraceClock::TraceClock(int rank)
    : m_origin(monotonicNowNs()) {
    const char* text = std::getenv("RINGMASTER_TRACE_SKEW");
    std::istringstream parts(text ? text : "");
    for (std::string part; std::getline(parts, part, ',');) {
        int which = -1;
        double ms = 0, ppm = 0;
        if (std::sscanf(part.c_str(), "%d:%lf:%lf", &which, &ms, &ppm) >= 2 && which == rank) {
            m_shiftNs = std::llround(ms * 1e6);
            m_drift = ppm * 1e-6;
        }
    }
}

int64_t TraceClock::nowNs() const {
    const int64_t now = monotonicNowNs();
    return now + m_shiftNs + std::llround(static_cast<double>(now - m_origin) * m_drift);
}

TraceRecorder::TraceRecorder(Telemetry& telemetry, int rank, bool onDevice)
    : m_telemetry(telemetry)
    , m_clock(rank) {
    m_header.rank = rank;
    m_header.onDevice = onDevice;
}

TraceRecorder::~TraceRecorder() {
    finish();
}

/// What is over is journaled, what is under way as far as it came.
void TraceRecorder::finish() {
    if (m_isOpen)
        closeStep(m_clock.nowNs());
    if (m_isOpen || m_isLate)
        write(true);
    m_isOpen = m_isLate = false;
    m_left = 0;
    m_collectives.clear();
}

void TraceRecorder::begin(int64_t firstStep, int64_t steps) {
    finish();
    m_header.firstStep = firstStep;
    m_header.steps = static_cast<int32_t>(steps);
    m_header.wallNs = wallNowNs();
    m_header.clockNs = m_clock.nowNs();
    m_left = steps;
    m_numbers = 0;
    m_lateSteps = 0;
}

void TraceRecorder::beginStep(int64_t step) {
    if (!isBusy() && !m_isLate) [[likely]]
        return;
    const int64_t now = m_clock.nowNs();
    if (m_isOpen)
        closeStep(now);
    m_isLate = m_left == 0;
    m_isOpen = !m_isLate;
    takeEnded();
    if (m_isLate && (m_collectives.empty() || ++m_lateSteps > kMostLateSteps))
        return finish();
    write(false);
    if (m_isLate)
        return;
    --m_left;
    m_step = step;
    m_stepBegan = m_last = now;
    m_isInWork = true;
    m_laps = 0;
}

/// On a device its phases are in front of what the host did between the steps, as deliver() puts
/// them there.
void TraceRecorder::closeStep(int64_t now) {
    add(TraceKind::kBoundary, m_last, now);
    m_slices.push_back({TraceKind::kStep, m_step, m_stepBegan, now - m_stepBegan, 0, 0});
    m_isInWork = false;
}

void TraceRecorder::add(TraceKind kind, int64_t beginNs, int64_t endNs) {
    if (endNs > beginNs)
        m_slices.push_back({kind, m_step, beginNs, endNs - beginNs, 0, 0});
    m_last = std::max(m_last, endNs);
}

void TraceRecorder::lap(MetricId phase) {
    if (!m_isOpen || !m_isInWork)
        return;
    ++m_laps;
    if (!m_header.onDevice)
        add(kindOf(phase), m_last, m_clock.nowNs());
}

void TraceRecorder::endWork() {
    m_isInWork = false;
}

/// The host has waited for the device, so that these are the laps of the open step. What the host
/// did after it had queued them begins when they have ended.
void TraceRecorder::deliver(std::span<const std::pair<int, float>> lapsMs) {
    if (!m_isOpen || !m_header.onDevice)
        return;
    int64_t at = m_stepBegan;
    size_t lap = 0;
    std::vector<TraceSlice> phases;
    for (const auto& [phase, ms] : lapsMs) {
        const int64_t end = at + std::llround(static_cast<double>(ms) * 1e6);
        const TraceKind kind = kindOf(static_cast<MetricId>(phase));
        phases.push_back({kind, m_step, at, std::max<int64_t>(0, end - at), 0, 0});
        at = std::max(at, end);
        bool hasGathered = false; // gathers are awaited one by one, in their order
        for (const auto& collective : m_collectives) {
            const bool isBefore = collective->slice.step < m_step || collective->lap <= lap;
            const bool isGather = collective->slice.kind == TraceKind::kAllGather;
            if (kind != TraceKind::kAllReduceWait || !isBefore || collective->endNs != 0 ||
                (isGather && hasGathered))
                continue;
            hasGathered = hasGathered || isGather;
            collective->endNs = at;
        }
        ++lap;
    }
    for (TraceSlice& slice : m_slices) {
        if (slice.step != m_step || isCollective(slice.kind))
            continue;
        const int64_t end = std::max(slice.endNs(), at);
        slice.beginNs = std::max(slice.beginNs, at);
        slice.durationNs = end - slice.beginNs;
    }
    m_slices.insert(m_slices.end(), phases.begin(), phases.end());
    m_last = std::max(m_last, at);
}

void TraceRecorder::enter() {
    if (m_depth++ == 0 && m_isOpen)
        add(TraceKind::kBoundary, m_last, m_clock.nowNs());
}

void TraceRecorder::leave(TraceKind kind) {
    if (--m_depth == 0 && m_isOpen)
        add(kind, m_last, m_clock.nowNs());
}

std::function<void(bool)> TraceRecorder::beginCollective(TraceKind kind, int64_t bytes) {
    if (!m_isOpen)
        return {};
    auto collective = std::make_shared<Collective>();
    collective->slice = {kind, m_step, m_clock.nowNs(), 0, bytes, m_numbers++};
    collective->lap = m_laps;
    m_collectives.push_back(collective);
    return [collective, clock = m_clock](bool failed) {
        collective->endNs = failed ? kFailed : clock.nowNs();
    };
}

void TraceRecorder::takeEnded() {
    std::erase_if(m_collectives, [this](const std::shared_ptr<Collective>& each) {
        const int64_t end = each->endNs;
        if (end > 0) {
            each->slice.durationNs = std::max<int64_t>(0, end - each->slice.beginNs);
            m_slices.push_back(each->slice);
        }
        return end != 0;
    });
}

void TraceRecorder::write(bool last) {
    takeEnded();
    std::ranges::stable_sort(m_slices, {}, &TraceSlice::beginNs);
    for (size_t at = 0; at < m_slices.size() || last; at += kMostSlicesOfRecord) {
        const size_t end = std::min(m_slices.size(), at + kMostSlicesOfRecord);
        TraceRecorded record = m_header;
        record.last = last && end == m_slices.size();
        record.slices.assign(m_slices.begin() + static_cast<ptrdiff_t>(at),
                             m_slices.begin() + static_cast<ptrdiff_t>(end));
        m_telemetry.append(std::move(record));
        if (end == m_slices.size())
            break;
    }
    m_slices.clear();
}

} // namespace rm
