// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/train_loop.h"

#include "shared/io/clock.h"
#include "shared/return_if_error.h"
#include "trainer/train/data/data_identity.h"
#include "trainer/train/optim/schedule.h"

#include <cstdio>

namespace rm {
namespace {

constexpr int64_t kPrintEvery = 10; ///< logged steps

} // namespace

Result<std::unique_ptr<TrainLoop>> TrainLoop::create(Session& session, const TaskMaker& maker) {
    session.board->setPhase(Phase::kData);
    RM_ASSIGN_OR_RETURN(const auto start, findStart(session));
    const auto& from = start.state;
    session.telemetry->append(AttemptStarted{session.environment.attempt, session.world.rank(),
                                             session.world.size(), from ? from->step : 0,
                                             wallNowNs(), session.options.startFrom});
    for (const DamagedCheckpoint& damaged : start.passedOver)
        session.event(Severity::kWarning, kCheckpointDamagedEvent,
                      "checkpoint step " + std::to_string(damaged.step) + " is damaged (" +
                          damaged.problem + "); resumed from step " + std::to_string(from->step),
                      damaged.step);
    RM_ASSIGN_OR_RETURN(auto training, Training::make(session, maker, from));
    std::unique_ptr<TrainLoop> loop(new TrainLoop(std::move(training)));
    RM_RETURN_IF_ERROR(loop->start(from));
    return loop;
}

TrainLoop::TrainLoop(std::unique_ptr<Training> training)
    : m_training(std::move(training))
    , m_validator(*m_training)
    , m_checkpointer(*m_training, m_validator)
    , m_rollback(*m_training, m_checkpointer)
    , m_guard(*m_training, m_rollback)
    , m_spikes(*m_training, m_rollback)
    , m_orders(*m_training, m_validator, m_checkpointer, m_guard, m_spikes) {
    m_rollback.onRollback([this](const TrainState& state) { m_spikes.restore(state); });
    m_checkpointer.keepWith([this](TrainState& state) {
        m_spikes.store(state);
        m_orders.store(state);
    });
    m_validator.setReport([this](MetricId figure, double value) { m_orders.note(figure, value); });
}

Result<void> TrainLoop::start(const std::optional<TrainState>& from) {
    if (from) {
        if (const auto loaded = m_checkpointer.load(m_training->session.options.startFrom); !loaded)
            return loaded;
        resumeFrom(*from);
    } else {
        m_training->set({}); // an earlier attempt may have journaled other settings
    }
    RM_RETURN_IF_ERROR(m_training->planSteps());
    RM_RETURN_IF_ERROR(m_checkpointer.claimFolder());
    RM_ASSIGN_OR_RETURN(m_oracle, Oracle::open(m_training->session.environment));
    m_step = Step::make(*m_training);
    m_training->board.setStep(m_training->step);
    announce();
    return {};
}

void TrainLoop::resumeFrom(const TrainState& from) {
    Training& t = *m_training;
    t.step = from.step;
    t.cursor = from.cursor;
    t.set(from.settings);
    t.restoreScaler(from, from.skippedSteps);
    m_validator.restore(from);
    m_guard.resume(from.skippedSteps);
    m_spikes.restore(from);
    m_orders.restore(from);
    const std::string& data = t.task->dataIdentity();
    if (!mayBeSameData(data, from.dataIdentity))
        t.event(Severity::kWarning, "data-changed",
                "the training data, or what is held out of it, is other than it was when the "
                "checkpoint of step " +
                    std::to_string(t.step) +
                    " was saved; from here on it is trained on what is there now");
    const auto rank = static_cast<size_t>(t.world.rank());
    const std::string device = t.session.device.at.str();
    const bool sameWorld = from.worldSize == t.world.size() && rank < from.rngStates.size();
    if (sameWorld && device.starts_with(from.device))
        return t.session.device.plugin->setRngState(from.rngStates[rank]);
    t.seedFresh();
    t.event(Severity::kInfo, "random-reseeded",
            "resume step " + std::to_string(t.step) + " of " + std::to_string(from.worldSize) +
                " ranks on " + from.device + " with " + std::to_string(t.world.size()) + " on " +
                device + ": same data order, new random numbers for dropout");
}

void TrainLoop::announce() const {
    const Training& t = *m_training;
    if (!t.world.isFirst())
        return;
    std::printf(
        "# rank %d of %d on %s, %lld parameters, %s, %lld samples a step in %lld batches a rank, "
        "from step %lld\n",
        t.world.rank(), t.world.size(), t.session.device.plugin->deviceName().c_str(),
        static_cast<long long>(parameterCount(t.model)), t.task->summary().c_str(),
        static_cast<long long>(t.partition.positionsPerStep()),
        static_cast<long long>(t.partition.accumulation()), static_cast<long long>(t.step));
}

Result<Ending> TrainLoop::run() {
    if (m_training->session.options.saveInitial && m_training->step == 0)
        RM_RETURN_IF_ERROR(m_checkpointer.saveAndWait("initial"));
    while (!m_training->isLast()) {
        m_orders.listen();
        RM_RETURN_IF_ERROR(trainStep());
        RM_ASSIGN_OR_RETURN(const auto ending, boundary());
        if (ending)
            return *ending;
        if (m_validator.isPatienceOver()) {
            m_training->event(Severity::kInfo, "stopped-early", m_validator.whyPatienceIsOver());
            break;
        }
    }
    return finish();
}

Result<void> TrainLoop::trainStep() {
    Training& t = *m_training;
    const int64_t step = t.step + 1;
    t.report.beginStep(step, t.isLogged(step));
    m_pace.begin();
    RM_ASSIGN_OR_RETURN(const auto loss, m_step->gradients());
    t.board.setPhase(Phase::kOptimizer);
    if (m_checkpointer.release())
        t.report.lap(metric::kPhaseCheckpointMs);
    m_figures.lr = learningRate(t.spec.schedule, t.live.optimizer.lr, step, t.lastStep);
    if (t.scaler.hasNormLimit())
        t.scaler.setNormLimit(m_spikes.normLimit());
    const at::Tensor gradNorm = m_step->update(m_figures.lr);
    t.report.lap(metric::kPhaseOptimizerMs);
    m_pace.end();
    t.step = step;
    t.board.setStep(step);
    publishStep(loss, gradNorm);
    return {};
}

void TrainLoop::publishStep(const at::Tensor& loss, const at::Tensor& gradNorm) {
    Training& t = *m_training;
    if (!t.isLogged(t.step)) {
        t.report.endStep();
        return;
    }
    m_figures.loss = loss.item<double>();
    m_figures.gradNorm = gradNorm.item<double>();
    m_oracle.record(t.step, m_figures.loss);
    m_spikes.onStep(m_figures.loss, m_figures.gradNorm);
    if (t.world.isFirst() && t.scaler.scalesLoss())
        m_figures.lossScale = t.scaler.lossScale();
    if (t.world.isFirst() && t.scaler.mode() == GradScaler::Mode::kSkips)
        m_figures.skipped = t.scaler.skipped();
    t.report.endStep();
    t.report.publish(m_figures, {m_step->targets(), m_step->takeFlops()},
                     t.task->throughputMetric());
    m_orders.note(metric::kTrainGradNorm, m_figures.gradNorm);
    m_orders.note(metric::kTrainStepMs, t.report.stepMs());
    m_orders.note(t.task->throughputMetric(), t.report.targetsPerSec());
    const bool prints = m_loggedSteps++ % kPrintEvery == 0 || t.isLast();
    if (t.world.isFirst() && prints)
        printStep();
}

void TrainLoop::printStep() const {
    const Training& t = *m_training;
    const char* unit = t.task->throughputMetric() == metric::kTrainImagesPerS ? "img" : "tok";
    std::printf("step %lld/%lld  loss %.4f  lr %.3g  %.0f %s/s  %.1f ms\n",
                static_cast<long long>(t.step), static_cast<long long>(t.lastStep), m_figures.loss,
                m_figures.lr, t.report.targetsPerSec() * static_cast<double>(t.world.size()), unit,
                t.report.stepMs());
    std::fflush(stdout);
}

/// Everything that happens between two steps.
Result<std::optional<Ending>> TrainLoop::boundary() {
    if (waitsForDevice())
        if (auto ending = m_guard.look(); !ending || *ending)
            return ending;
    if (m_validator.isDue())
        RM_RETURN_IF_ERROR(m_validator.validate());
    if (m_checkpointer.isDue())
        m_checkpointer.save(m_checkpointer.whyDue());
    else if (m_training->spec.checkpoint.keepBest && m_validator.isBest())
        m_checkpointer.save("best");
    auto ending = m_orders.obey();
    // Every rank comes to that step, so that none has to be told.
    return ending && !*ending && m_training->isPausePlanned() ? m_orders.pauseAsPlanned() : ending;
}

/// The guard looks when the host waits for the device anyway. In between, the orders report
/// held-back updates.
bool TrainLoop::waitsForDevice() const {
    return m_training->isLogged(m_training->step) || m_validator.isDue() || m_checkpointer.isDue();
}

Result<Ending> TrainLoop::finish() {
    if (validates(m_training->spec) && !m_validator.hasValidated())
        RM_RETURN_IF_ERROR(m_validator.validate());
    RM_RETURN_IF_ERROR(m_checkpointer.saveAtEnd());
    m_training->board.setPhase(Phase::kEnding);
    m_training->world.barrier(); // rank 0 serves the TCPStore until all are done
    return m_guard.ending().value_or(Ending{});
}

} // namespace rm
