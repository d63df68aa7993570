// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/exit_code.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/control/control.h"
#include "trainer/train/data/batch_feed.h"
#include "trainer/train/dist/gradient_sync.h"
#include "trainer/train/optim/optimizer.h"
#include "trainer/train/step_report.h"
#include "trainer/train/task/task.h"

#include <memory>
#include <optional>
#include <string>

namespace rm {

/// How a rank ended, and for endings that are no success, why.
struct Ending {
    ExitCode code = ExitCode::kOk;
    std::string message;
};

/// One rank of one run from its first step to its last. All ranks run the same code in step; every
/// decision that needs all of them is made from what all of them know.
class TrainLoop {
public:
    /// Reads data, makes the model or loads the checkpoint. All ranks call it together. The
    /// session must outlive the loop.
    static Result<std::unique_ptr<TrainLoop>> create(const Session& session);
    ~TrainLoop();

    Result<Ending> run();

private:
    TrainLoop(const Session& session, std::unique_ptr<Task> task, StepCut cut);

    // train_start.cpp
    Result<void> start(const std::optional<TrainState>& from);
    void resumeFrom(const TrainState& from);
    void seedFresh();
    void announce() const;

    // train_loop.cpp
    Result<void> trainStep();
    Result<at::Tensor> microBatches();
    at::Tensor forward(const Batch& batch);
    void publishStep(const at::Tensor& loss, const at::Tensor& gradNorm);
    std::optional<Ending> brokenNumbers() const;
    Result<void> cadence();
    void validate();
    void sample();
    Result<Ending> finish();

    // train_orders.cpp
    Result<std::optional<Ending>> obeyOrders();
    Result<std::optional<Ending>> obey(const Order& order);
    Result<std::optional<Ending>> saveAndEnd(const char* reason, ExitCode code);
    void apply(const Order& order);
    std::string set(const Order& order);
    bool isHeld() const { return m_holdAt && *m_holdAt <= m_step; }

    // train_save.cpp
    Result<void> save(const std::string& reason);
    Result<std::string> publish(const std::string& reason, std::vector<std::string> rngStates);
    void removeOldCheckpoints();

    double lr() const { return m_overrides.lr.value_or(m_session.spec.optimizer.lr); }
    double clip() const { return m_overrides.clip.value_or(m_session.spec.optimizer.clip); }
    int64_t logEvery() const {
        return m_overrides.logEvery.value_or(m_session.spec.train.logEvery);
    }
    bool isLogged(int64_t step) const;

    const Session& m_session;
    const RunSpec& m_spec;
    const World& m_world;
    Board& m_board;
    std::unique_ptr<Task> m_task;
    Model& m_model;
    std::vector<at::Tensor> m_values; ///< of the parameters
    StepCut m_cut;
    std::unique_ptr<Optimizer> m_optimizer;
    std::unique_ptr<StepReport> m_report;
    std::unique_ptr<GradientSync> m_sync;
    std::unique_ptr<Control> m_control;
    std::unique_ptr<BatchFeed> m_feed;

    int64_t m_step = 0;    ///< steps done
    int64_t m_cursor = 0;  ///< position at which the next step begins
    int64_t m_targets = 0; ///< of this rank in the last step
    Overrides m_overrides;
    std::optional<int64_t> m_holdAt; ///< hold at the boundary after this step
    StepReport::Figures m_figures;   ///< of the last logged step
    double m_validationLoss = std::numeric_limits<double>::quiet_NaN();
    double m_bestValidationLoss = std::numeric_limits<double>::quiet_NaN();
    int64_t m_validatedAt = -1;
    int64_t m_loggedSteps = 0;
};

} // namespace rm
