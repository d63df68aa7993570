// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/training.h"

#include "shared/io/clock.h"
#include "shared/return_if_error.h"
#include "shared/spec/step_cut.h"
#include "trainer/train/data/sample_order.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/workloads/start_weights.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <limits>

namespace rm {
namespace {

std::optional<StepsBefore> stepsOf(const std::optional<TrainState>& from, const RunSpec& spec) {
    return from ? std::optional(StepsBefore{from->positionsPerStep, from->worldSize,
                                            from->specHash == specHashOf(spec)})
                : std::nullopt;
}

Result<void> checkStartOnFirst(const Session& session) {
    Result<std::string> mine;
    if (session.world.isFirst())
        if (const auto fits = checkStart(session.spec); !fits)
            mine = tl::unexpected(fits.error());
    return agreeOnFirst(session.world, mine).map([](const std::string&) {});
}

GradScaler makeScaler(const Session& session) {
    const RunSpec::Train& train = session.spec.train;
    const bool scales = train.precision == "float16";
    const bool skips = scales || train.onNonFinite == "skip";
    GradScaler scaler(session.device.at, scales,
                      skips ? GradScaler::Mode::kSkips : GradScaler::Mode::kStaysShut);
    if (train.onSpike == "skip")
        scaler.setNormLimit(std::numeric_limits<double>::infinity());
    return scaler;
}

} // namespace

Result<std::unique_ptr<Training>> Training::make(const Session& session, const TaskMaker& maker,
                                                 const std::optional<TrainState>& from) {
    const bool startsFromWeights = !from && !session.spec.model.startFrom.empty();
    if (startsFromWeights)
        RM_RETURN_IF_ERROR(checkStartOnFirst(session));
    RM_ASSIGN_OR_RETURN(auto task, maker(session));
    const std::vector<int64_t> sizes = task->batchSizes();
    RM_ASSIGN_OR_RETURN(
        const auto accumulation,
        accumulationOf(session.spec, session.world.size(), sizes, stepsOf(from, session.spec)));
    session.board->setPhase(Phase::kStarting);
    Model& model = task->model();
    if (session.world.isFirst() && !from && !startsFromWeights)
        model.initialize(at::detail::createCPUGenerator(static_cast<uint64_t>(session.spec.seed)));
    if (startsFromWeights)
        RM_RETURN_IF_ERROR(loadStart(session.world, session.spec, model));
    model.moveTo(session.device.at);
    std::unique_ptr<Training> training(
        new Training(session, std::move(task), BatchPartition(sizes, accumulation)));
    if (!from) {
        session.world.broadcast(replicatedTensors(model));
        training->seedFresh();
        if (session.spec.train.ema > 0)
            training->average = std::make_unique<WeightAverage>(model, session.spec.train.ema);
    }
    return training;
}

Training::Training(const Session& givenSession, std::unique_ptr<Task> givenTask,
                   BatchPartition givenPartition)
    : session(givenSession)
    , spec(session.spec)
    , live(spec)
    , world(session.world)
    , board(*session.board)
    , task(std::move(givenTask))
    , model(task->model())
    , partition(std::move(givenPartition))
    , report(session)
    , sync(
          world, model, spec.distribution, spec.optimizer.sharded,
          [this](MetricId ended) { onPhaseEnd(ended); }, &report.trace())
    , optimizer(makeOptimizer(model, spec.optimizer, world, &sync))
    , scaler(makeScaler(session)) {}

void Training::set(const LiveSettings& changed) {
    for (const auto& [key, value] : changed)
        settings[key] = value;
    apply(changed, live);
    if (!world.isFirst())
        return;
    SettingsChanged now{step, wallNowNs(), {}};
    for (const auto& [key, value] : settings)
        if (value != liveValue(spec, key))
            now.settings.push_back({key, value});
    session.telemetry->append(std::move(now));
}

double Training::scaledLr(double factor) const {
    const double lr = live.optimizer.lr;
    return std::max(lr * factor, std::min(live.schedule.minLr, lr));
}

bool Training::isLogged(int64_t someStep) const {
    return (live.train.logEvery > 0 && someStep % live.train.logEvery == 0) || someStep == 1 ||
           someStep == lastStep;
}

bool Training::isDueByEpochs(int64_t every) const {
    const int64_t apart = every * task->training().epochSize();
    return every > 0 && !isLast() &&
           cursor / apart != (cursor - partition.positionsPerStep()) / apart;
}

bool Training::isPausePlanned() const {
    return !isLast() && std::ranges::find(spec.train.pauseAt, step) != spec.train.pauseAt.end();
}

Result<void> Training::planSteps() {
    const int64_t perStep = partition.positionsPerStep();
    const int64_t left = spec.train.epochs * task->training().epochSize() - cursor;
    lastStep =
        knownSteps(spec).value_or(step + (std::max<int64_t>(0, left) + perStep - 1) / perStep);
    const RunSpec::Schedule& schedule = spec.schedule;
    if (schedule.warmupSteps + schedule.decaySteps > lastStep)
        return fail(ErrorCode::kInvalid,
                    "plan steps: schedule.warmup_steps and schedule.decay_steps are " +
                        std::to_string(schedule.warmupSteps + schedule.decaySteps) +
                        " together, but the " + std::to_string(spec.train.epochs) +
                        " epochs of train.epochs end with step " + std::to_string(lastStep));
    if (world.isFirst())
        session.telemetry->append(StepsPlanned{lastStep});
    return {};
}

void Training::event(Severity severity, const char* code, const std::string& message) const {
    if (world.isFirst())
        session.event(severity, code, message, step);
}

void Training::restoreScaler(const TrainState& from, int64_t skipped) {
    GradScaler::State state;
    state.skipped = skipped;
    if (from.lossScale > 0) {
        state.lossScale = from.lossScale;
        state.finiteSteps = from.finiteSteps;
    }
    scaler.restore(state);
}

void Training::seedFresh() const {
    at::manual_seed(mixSeed(static_cast<uint64_t>(spec.seed), static_cast<uint64_t>(world.rank()),
                            static_cast<uint64_t>(step)));
}

/// Called by GradientSync when this rank starts to wait for the sums of all ranks, or continues
/// after waiting.
void Training::onPhaseEnd(MetricId ended) {
    report.lap(ended);
    if (ended == metric::kPhaseAllreduceMs)
        board.setPhase(Phase::kOptimizer);
    else if (ended == metric::kPhaseOptimizerMs)
        board.setPhase(Phase::kForward); // see PendingBuckets::await()
    else
        board.setPhase(Phase::kAllreduce);
}

} // namespace rm
