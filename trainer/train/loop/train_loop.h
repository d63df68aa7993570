// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/loop/checkpointer.h"
#include "trainer/train/loop/non_finite_guard.h"
#include "trainer/train/loop/oracle.h"
#include "trainer/train/loop/order_handler.h"
#include "trainer/train/loop/pace.h"
#include "trainer/train/loop/rollback.h"
#include "trainer/train/loop/spike_guard.h"
#include "trainer/train/loop/step.h"
#include "trainer/train/loop/validator.h"

namespace rm {

/// One rank of a run from its first step to its last. All ranks execute the same code; collective
/// decisions depend only on what all ranks know.
class TrainLoop {
public:
    /// Reads data, makes the model or loads the checkpoint (see findStart()). All ranks call it
    /// together. The session must outlive the loop.
    static Result<std::unique_ptr<TrainLoop>> create(Session& session,
                                                     const TaskMaker& maker = makeTask);

    Result<Ending> run();

private:
    explicit TrainLoop(std::unique_ptr<Training> training);

    Result<void> start(const std::optional<TrainState>& from);
    void resumeFrom(const TrainState& from);
    void announce() const;

    Result<void> trainStep();
    void publishStep(const at::Tensor& loss, const at::Tensor& gradNorm);
    void printStep() const;
    Result<std::optional<Ending>> boundary();
    bool waitsForDevice() const;
    Result<Ending> finish();

    const std::unique_ptr<Training> m_training;
    std::unique_ptr<Step> m_step;
    Validator m_validator;
    Checkpointer m_checkpointer;
    Rollback m_rollback;
    NonFiniteGuard m_guard;
    SpikeGuard m_spikes;
    OrderHandler m_orders;
    Oracle m_oracle;
    Pace m_pace;
    StepReport::Figures m_figures; ///< of the last logged step
    int64_t m_loggedSteps = 0;
};

} // namespace rm
