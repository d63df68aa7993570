// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/control/control.h"
#include "trainer/train/dist/send_time.h"
#include "trainer/train/session/session.h"
#include "trainer/train/telemetry/trace_recorder.h"

#include <ATen/core/Tensor.h>

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace rm {

/// Times the logged steps and writes their figures to the journal. The phases:
///
///   phase/data_ms       batches read and on the device, over all micro-batches
///   phase/forward_ms    model and loss, over all micro-batches
///   phase/backward_ms   this rank's gradients computed: until its last bucket is handed over
///   phase/allreduce_ms  from then until the gradients' sums over all ranks are there, and in the
///                       next forward pass waiting for those that it needs: communication that did
///                       not hide behind computing, waiting for slower ranks included
///   phase/checkpoint_ms waiting until a checkpoint's tensors are copied
///   phase/optimizer_ms  clipping and update, also the part of it in a forward pass; with train.ema
///                       also waiting for everything that an update needs
///
/// On an accelerator these are times on its stream, measured without waiting. They may arrive a few
/// steps later and are then a second record of their step. train/step_ms is the host's time per
/// step since the last logged one, without validation, checkpoints and holding.
class StepReport {
public:
    explicit StepReport(const Session& session);

    void beginStep(int64_t step, bool logged);
    /// Ends a phase, whose metric is `id`, that began at the last lap. Nothing unless the step is
    /// logged or traced.
    void lap(MetricId id);
    /// The laps that were just recorded into a graph; null: none.
    RecordedLaps takeRecorded();
    /// Call it when a recording with these laps ran.
    void replayed(const RecordedLaps& laps);
    void endStep();

    struct Figures {
        double loss = 0;
        double lr = 0;
        double gradNorm = 0;
        std::optional<double> lossScale;
        std::optional<int64_t> skipped; ///< updates held back so far
    };
    /// What this rank did.
    struct Work {
        int64_t targets = 0; ///< in the step
        double flops = 0;    ///< Step::takeFlops(): since the last logged one
    };
    /// For a logged step, after endStep().
    void publish(const Figures& figures, const Work& work, MetricId throughput);
    /// Publishes a value that is not a step's own: of a validation or checkpoint.
    void publishAlone(MetricId id, double value, int64_t step);

    /// The oldest logged step whose times are known and that was not taken yet.
    std::optional<StepTimes> takeTimes();

    /// Records some steps in detail when a person asks for it.
    TraceRecorder& trace() { return m_trace; }

    /// For traces: what happens while it lives is a validation, or saving a checkpoint.
    class Span {
    public:
        Span(StepReport& report, TraceKind kind)
            : m_trace(report.trace())
            , m_kind(kind) {
            m_trace.enter();
        }
        ~Span() { m_trace.leave(m_kind); }
        Span(const Span&) = delete;

    private:
        TraceRecorder& m_trace;
        TraceKind m_kind;
    };

    double targetsPerSec() const { return m_targetsPerSec; } ///< as last published
    double stepMs() const { return m_stepMs; }

private:
    void takeFinishedLaps();
    void pushFinishedLaps();
    void pushSums(const StepLaps& laps);
    void keepTimes(int64_t step);

    Telemetry& m_telemetry;
    DevicePlugin& m_device;
    std::unique_ptr<StreamClock> m_clock;
    const std::optional<double> m_peakTflops; ///< of the device in this precision, where known
    TraceRecorder m_trace;
    std::vector<StepLaps> m_finished; ///< of logged steps, not pushed yet
    std::set<int64_t> m_tracedAlone;  ///< steps that are timed on the device though not logged
    std::vector<std::pair<int, float>> m_sums; ///< by phase, reused from step to step
    const int m_firstOfNode;
    SendTime m_sending;
    std::optional<double> m_sendMs; ///< in each of the last steps
    std::deque<StepTimes> m_times;  ///< not taken yet
    int64_t m_step = 0;
    bool m_isTimed = false; ///< logged, or traced on a device
    int64_t m_began = 0;
    int64_t m_busyNs = 0; ///< in steps since the last publish()
    int64_t m_busySteps = 0;
    double m_targetsPerSec = 0;
    double m_stepMs = 0;
};

} // namespace rm
