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

/// How a session gets its workload; see makeTask().
using TaskMaker = std::function<Result<std::unique_ptr<Task>>(const Session&)>;

/// What is trained and how far it is: what the parts of the training loop work on together. The
/// training thread's; the session must outlive it.
struct Training {
    /// Reads the data and makes the model, with its first weights (random, or those of
    /// model.start_from) unless it goes on `from` a checkpoint. All ranks call it together.
    static Result<std::unique_ptr<Training>> make(const Session& session, const TaskMaker& maker,
                                                  const std::optional<TrainState>& from);

    /// Changes `live`, and what checkpoints keep of it.
    void set(const LiveSettings& settings);

    bool isLogged(int64_t someStep) const;
    bool isLast() const { return step == spec.train.steps; }
    /// Whether something is to be done now that is done every so many steps (0: never) and anyway
    /// behind the last one.
    bool isDue(int64_t every) const { return every > 0 && step % every == 0 && !isLast(); }

    void event(Severity severity, const char* code, const std::string& message) const; ///< rank 0's

    /// `skipped`: updates held back so far.
    void restoreScaler(const TrainState& from, int64_t skipped);
    /// Random numbers that no other rank and no other step begins with.
    void seedFresh() const;

    const Session& session;
    const RunSpec& spec; ///< as the run was started
    RunSpec live;        ///< the same with what was set since: ask this one for whatever can be set
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
    int64_t cursor = 0;    ///< position at which the next step begins
    LiveSettings settings; ///< what `live` has and `spec` has not

private:
    Training(const Session& session, std::unique_ptr<Task> task, BatchPartition partition);
    void onPhaseEnd(MetricId ended);
};

} // namespace rm
