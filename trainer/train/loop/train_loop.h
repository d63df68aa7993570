// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/exit_code.h"
#include "trainer/train/checkpoint/checkpoint_writer.h"
#include "trainer/train/control/control.h"
#include "trainer/train/data/batch_feed.h"
#include "trainer/train/dist/gradient_sync.h"
#include "trainer/train/loop/graphed_step.h"
#include "trainer/train/loop/step_report.h"
#include "trainer/train/loop/watch.h"
#include "trainer/train/optim/grad_scaler.h"
#include "trainer/train/optim/optimizer.h"
#include "trainer/train/optim/weight_average.h"
#include "trainer/train/task/task.h"

#include <functional>
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
    /// How a session gets its workload; see makeTask().
    using TaskMaker = std::function<Result<std::unique_ptr<Task>>(const Session&)>;

    /// Reads data, makes the model or loads the checkpoint. All ranks call it together. The
    /// session must outlive the loop.
    static Result<std::unique_ptr<TrainLoop>> create(const Session& session,
                                                     const TaskMaker& maker = makeTask);
    ~TrainLoop();

    Result<Ending> run();

private:
    TrainLoop(const Session& session, std::unique_ptr<Task> task, BatchPartition partition);

    // train_start.cpp
    static Result<std::optional<TrainState>> readState(const World& world, const std::string& dir);
    Result<void> start(const std::optional<TrainState>& from);
    Result<void> loadTensors(const std::string& dir);
    void findLine();
    std::unique_ptr<BatchFeed> makeFeed();
    std::unique_ptr<GraphedStep> makeGraphedStep();
    void resumeFrom(const TrainState& from);
    void restoreScaler(const TrainState& from, int64_t skipped);
    void seedFresh();
    void announce() const;

    // train_loop.cpp
    Result<void> trainStep();
    Result<at::Tensor> gradients(int64_t step);
    void onPhaseEnd(MetricId ended);
    Result<Batch> nextBatch();
    Result<at::Tensor> microBatches();
    Result<at::Tensor> recordedBatches(int64_t step);
    at::Tensor addGradients(const Batch& batch, const at::Tensor& weight);
    at::Tensor forward(const Batch& batch);
    at::Tensor updateWeights();
    void publishStep(const at::Tensor& loss, const at::Tensor& gradNorm);
    void printStep();
    Result<std::optional<Ending>> boundary();
    Result<Ending> finish();

    // train_validate.cpp
    std::optional<double> validate();
    Result<void> validateAndWatch();
    void validateByCommand();
    void noteFigure(double figure);
    bool isBestValidation() const;
    void sample();
    bool isPatienceOver() const;
    Result<Ending> finishEarly();

    // train_guard.cpp
    bool looksAtGate() const;
    Result<std::optional<Ending>> guard();
    bool isHopeless();
    Result<std::optional<Ending>> recover();
    Result<bool> rollBack(const std::string& cause);

    // train_orders.cpp
    Result<std::optional<Ending>> obeyOrders();
    Result<std::optional<Ending>> obey(const Order& order);
    Result<std::optional<Ending>> saveAndEnd(const char* reason, ExitCode code);
    void apply(const Order& order);
    std::string set(const Order& order);
    bool isHeld() const { return m_holdAt && *m_holdAt <= m_step; }

    // train_save.cpp
    void save(const std::string& reason, const std::optional<Command>& command = {});
    Result<void> saveAndWait(const std::string& reason);
    CheckpointContent collect(const std::string& reason);
    std::vector<NamedTensor> averagedTensors() const;
    TrainState stateNow();
    void noteBestSaved();
    Result<void> publish(const CheckpointContent& content);
    void removeOldCheckpoints();
    void reportWritten(const CheckpointContent& content, const Result<void>& done,
                       const std::optional<Command>& command);

    double lr() const { return m_overrides.lr.value_or(m_session.spec.optimizer.lr); }
    double clip() const { return m_overrides.clip.value_or(m_session.spec.optimizer.clip); }
    int64_t logEvery() const {
        return m_overrides.logEvery.value_or(m_session.spec.train.logEvery);
    }
    bool isLogged(int64_t step) const;
    bool isLast() const { return m_step == m_spec.train.steps; }
    bool isValidationDue() const;
    bool isCheckpointDue() const;

    const Session& m_session;
    const RunSpec& m_spec;
    const World& m_world;
    Board& m_board;
    std::unique_ptr<Task> m_task;
    Model& m_model;
    BatchPartition m_partition;
    Watch m_watch;
    std::unique_ptr<StepReport> m_report;
    std::unique_ptr<GradientSync> m_sync;
    std::unique_ptr<Optimizer> m_optimizer;
    GradScaler m_scaler;
    std::unique_ptr<WeightAverage> m_average; ///< null: train.ema is 0
    std::unique_ptr<Control> m_control;
    std::unique_ptr<BatchFeed> m_feed;
    std::unique_ptr<GraphedStep> m_graphedStep; ///< null: steps run as they are written

    int64_t m_step = 0;    ///< steps done
    int64_t m_cursor = 0;  ///< position at which the next step begins
    int64_t m_targets = 0; ///< of this rank in the step, as far as its batches were read
    Overrides m_overrides;
    std::optional<int64_t> m_holdAt; ///< hold at the boundary after this step
    StepReport::Figures m_figures;   ///< of the last logged step
    double m_validationLoss = std::numeric_limits<double>::quiet_NaN();
    Watched m_watched;
    int64_t m_validatedAt = -1; ///< step after which the weights were last validated
    int64_t m_watchedAt = -1;   ///< likewise, and the figure noted
    int64_t m_loggedSteps = 0;

    int64_t m_lookedAt = 0;     ///< step after which the scaler was last looked at
    int64_t m_lookedSkips = 0;  ///< updates held back until then
    int64_t m_skipsOnEnd = 0;   ///< no update between them, as far as was looked
    int64_t m_recoveredAt = -1; ///< step after which it was last dealt with
    int m_rollbacks = 0;        ///< one soon after the other

    CheckpointLine m_line;     ///< rank 0: which of the folder's checkpoints are the run's
    std::string m_newest;      ///< folder of the newest good checkpoint; rank 0's writer sets it
    CheckpointWriter m_writer; ///< last: ends before what it reads
};

} // namespace rm
