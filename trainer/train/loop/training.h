// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/checkpoint/train_state.h"
#include "trainer/train/data/batch_partition.h"
#include "trainer/train/dist/gradient_sync.h"
#include "trainer/train/loop/step_report.h"
#include "trainer/train/optim/grad_scaler.h"
#include "trainer/train/optim/optimizer.h"
#include "trainer/train/optim/weight_average.h"
#include "trainer/train/workloads/task.h"

#include <functional>
#include <memory>
#include <optional>

namespace rm {

/// Makes the task of a session; see makeTask().
using TaskMaker = std::function<Result<std::unique_ptr<Task>>(const Session&)>;

/// The state that the parts of the training loop share. Training thread only; the session must
/// outlive it.
struct Training {
    /// Reads the data and makes the model. Unless it resumes `from` a checkpoint, initializes the
    /// weights (at random, or from model.start_from). All ranks call it together.
    static Result<std::unique_ptr<Training>> make(const Session& session, const TaskMaker& maker,
                                                  const std::optional<TrainState>& from);

    /// Applies settings to `live`, keeps them for checkpoints and journals all unlike the spec's.
    void set(const LiveSettings& settings);
    /// The present learning rate times a factor; not below schedule.min_lr unless it is already.
    double scaledLr(double factor) const;

    bool isLogged(int64_t someStep) const;
    bool isLast() const { return step >= lastStep; }
    /// Whether something that is done at this interval (0: never) is due now. False after the last
    /// step, when it is done anyway.
    bool isDue(int64_t every) const { return every > 0 && step % every == 0 && !isLast(); }
    /// The same for an interval in epochs (0: never). An epoch ends with the step that takes its
    /// last sample, which may be the next epoch's first step as well.
    bool isDueByEpochs(int64_t every) const;
    /// Whether the run pauses by itself here: it has come to a step of train.pause_at.
    bool isPausePlanned() const;
    /// Epochs that have ended.
    int64_t epochsDone() const { return cursor / task->training().epochSize(); }

    /// Finds out `lastStep` and journals it. `step` and `cursor` must be those of the start.
    Result<void> planSteps();

    void event(Severity severity, const char* code, const std::string& message) const; ///< rank 0's

    /// `skipped`: updates held back so far.
    void restoreScaler(const TrainState& from, int64_t skipped);
    /// Seeds the generators with a seed that no other rank or step uses.
    void seedFresh() const;

    const Session& session;
    const RunSpec& spec; ///< as the run was started
    RunSpec live;        ///< with later settings; read settable values here
    const World& world;
    Board& board;
    std::unique_ptr<Task> task;
    Model& model;
    BatchPartition partition;
    StepReport report;
    GradientSync sync;
    std::unique_ptr<Optimizer> optimizer;
    GradScaler scaler;
    std::unique_ptr<WeightAverage> average; ///< null: train.ema is 0

    int64_t step = 0;      ///< steps done
    int64_t lastStep = 0;  ///< the run's last step; the same on all ranks
    int64_t cursor = 0;    ///< position at which the next step begins
    LiveSettings settings; ///< the differences between `live` and `spec`

private:
    Training(const Session& session, std::unique_ptr<Task> task, BatchPartition partition);
    void onPhaseEnd(MetricId ended);
};

} // namespace rm
