// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/trace_slices.h"
#include "shared/metrics/registry.h"
#include "trainer/train/telemetry/telemetry.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rm {

/// The clock of a rank's traces: CLOCK_MONOTONIC. For tests alone, RINGMASTER_TRACE_SKEW shifts it:
/// "1:1000" by 1000 ms on rank 1, "1:1000:50" so that it also gains 50 us a second.
class TraceClock {
public:
    explicit TraceClock(int rank);
    int64_t nowNs() const;

private:
    int64_t m_origin = 0;
    int64_t m_shiftNs = 0;
    double m_drift = 0;
};

/// Records what this rank does in a number of steps, and journals each step once it is over. While
/// nothing is recorded a call costs a comparison. The phases of a step and what is done between two
/// steps follow each other without gaps.
///
/// On the CPU times are the host's. On an accelerator the phases' are those of its stream: lap()
/// only counts, and deliver() brings the durations, which are laid out from the step's begin; so
/// the caller lets the device finish before each beginStep(). A collective ends there with the wait
/// for it.
///
/// The training thread, or one that it waits for; what beginCollective() returns, any thread.
class TraceRecorder {
public:
    TraceRecorder(Telemetry& telemetry, int rank, bool onDevice);
    /// Journals what was recorded so far.
    ~TraceRecorder();
    TraceRecorder(const TraceRecorder&) = delete;

    /// Records `steps` steps from the next beginStep() on, which is that of `firstStep`. Not while
    /// isBusy().
    void begin(int64_t firstStep, int64_t steps);
    /// Whether steps are still to be recorded; the same on all ranks.
    bool isBusy() const { return m_left > 0 || m_isOpen; }
    int64_t firstStep() const { return m_header.firstStep; }
    int64_t steps() const { return m_header.steps; }

    /// Whether the present step is recorded.
    bool isOpen() const { return m_isOpen; }
    bool isOnDevice() const { return m_header.onDevice; }

    /// Ends the step before.
    void beginStep(int64_t step);
    /// Ends a phase of the step, by its metric; nothing once endWork() was called.
    void lap(MetricId phase);
    /// No further lap of this step follows.
    void endWork();
    /// The durations of the step's laps on the device.
    void deliver(std::span<const std::pair<int, float>> lapsMs);

    /// Between steps: what follows until leave() is of that kind. May be nested; the outermost
    /// counts.
    void enter();
    void leave(TraceKind kind);

    /// A collective is about to be started. Call what it returns when it is over; `failed`: it has
    /// no end. On a device it need not be called. Null: nothing is recorded.
    std::function<void(bool failed)> beginCollective(TraceKind kind, int64_t bytes);

private:
    struct Collective {
        TraceSlice slice;
        size_t lap = 0;                ///< laps of its step before it began
        std::atomic<int64_t> endNs{0}; ///< 0: not over; kFailed
    };
    static constexpr int64_t kFailed = -1;
    static constexpr int kMostLateSteps = 8; ///< that the last collectives get to end in

    void add(TraceKind kind, int64_t beginNs, int64_t endNs);
    void closeStep(int64_t now);
    void takeEnded();
    void write(bool last);
    void finish();

    Telemetry& m_telemetry;
    TraceClock m_clock;
    TraceRecorded m_header; ///< of each record
    int64_t m_left = 0;     ///< steps that are not begun yet
    bool m_isOpen = false;
    bool m_isLate = false; ///< all steps are over, but not all collectives
    int m_lateSteps = 0;
    int64_t m_step = 0;
    int64_t m_stepBegan = 0;
    int64_t m_last = 0; ///< when the last phase ended
    bool m_isInWork = false;
    int m_depth = 0; ///< of enter()
    size_t m_laps = 0;
    int64_t m_numbers = 0; ///< of collectives so far
    std::vector<TraceSlice> m_slices;
    std::vector<std::shared_ptr<Collective>> m_collectives; ///< begun, in that order
};

} // namespace rm
