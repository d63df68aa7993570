// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/session/session.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
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
    /// Ends a phase, whose metric is `id`, that began at the last lap. Nothing unless logged.
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
    /// For a logged step, after endStep(). `targets` are those of the step on this rank.
    void publish(const Figures& figures, int64_t targets, MetricId throughput);
    /// Publishes a value that is not a step's own: of a validation or checkpoint.
    void publishAlone(MetricId id, double value, int64_t step);

    double targetsPerSec() const { return m_targetsPerSec; } ///< as last published
    double stepMs() const { return m_stepMs; }

private:
    void pushFinishedLaps();
    void pushSums(const StepLaps& laps);

    Telemetry& m_telemetry;
    std::unique_ptr<StreamClock> m_clock;
    std::vector<std::pair<int, float>> m_sums; ///< by phase, reused from step to step
    int64_t m_step = 0;
    bool m_logged = false;
    int64_t m_began = 0;
    int64_t m_busyNs = 0; ///< in steps since the last publish()
    int64_t m_busySteps = 0;
    double m_targetsPerSec = 0;
    double m_stepMs = 0;
};

} // namespace rm
