// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/train_loop.h"

#include "trainer/train/autocast.h"
#include "trainer/train/optim/schedule.h"

#include <cstdio>

namespace rm {
namespace {

constexpr int64_t kPrintEvery = 10; ///< logged steps

bool isDue(int64_t every, int64_t step) {
    return every > 0 && step % every == 0;
}

} // namespace

bool TrainLoop::isLogged(int64_t step) const {
    return isDue(logEvery(), step) || step == 1 || step == m_spec.train.steps;
}

bool TrainLoop::isValidationDue() const {
    return isDue(m_spec.validation.every, m_step) && !isLast();
}

bool TrainLoop::isCheckpointDue() const {
    return isDue(m_spec.checkpoint.every, m_step) && !isLast();
}

Result<Ending> TrainLoop::run() {
    if (m_session.options.saveInitial && m_step == 0)
        if (const auto saved = saveAndWait("initial"); !saved)
            return tl::unexpected(saved.error());
    while (!isLast()) {
        m_control->begin(m_scaler.seenShut());
        if (const auto done = trainStep(); !done)
            return tl::unexpected(done.error());
        const auto ending = boundary();
        if (!ending)
            return tl::unexpected(ending.error());
        if (*ending)
            return **ending;
        if (isPatienceOver())
            return finishEarly();
    }
    return finish();
}

Result<void> TrainLoop::trainStep() {
    const int64_t step = m_step + 1;
    m_report->beginStep(step, isLogged(step));
    const auto loss = gradients(step);
    if (!loss)
        return tl::unexpected(loss.error());
    m_board.setPhase(Phase::kOptimizer);
    if (m_writer.release())
        m_report->lap(metric::kPhaseCheckpointMs);
    m_figures.lr = learningRate(m_spec.schedule, lr(), step, m_spec.train.steps);
    if (m_graphedStep)
        m_scaler.setLr(m_figures.lr);
    const at::Tensor gradNorm =
        m_graphedStep ? m_graphedStep->update(clip(), step) : updateWeights();
    m_report->lap(metric::kPhaseOptimizerMs);
    m_step = step;
    m_board.setStep(step);
    m_control->setStep(step);
    publishStep(*loss, gradNorm);
    return {};
}

at::Tensor TrainLoop::forward(const Batch& batch) {
    const Autocast autocast(m_spec.train.precision, m_session.device);
    return m_model.loss(batch, true);
}

at::Tensor TrainLoop::updateWeights() {
    const at::Tensor gradNorm =
        m_scaler.update(*m_optimizer, m_figures.lr, clip(), m_spec.optimizer.clipValue);
    if (m_average) {
        m_sync->settle();
        m_average->update();
    }
    return gradNorm;
}

/// What GradientSync tells: then this rank waits for the sums of all, or goes on where it waited.
void TrainLoop::onPhaseEnd(MetricId ended) {
    m_report->lap(ended);
    if (ended == metric::kPhaseAllreduceMs)
        m_board.setPhase(Phase::kOptimizer);
    else if (ended == metric::kPhaseOptimizerMs)
        m_board.setPhase(Phase::kForward); // see PendingBuckets::await()
    else
        m_board.setPhase(Phase::kAllreduce);
}

Result<Batch> TrainLoop::nextBatch() {
    m_board.setPhase(Phase::kData);
    auto read = m_feed->next();
    if (!read)
        return read;
    m_targets += read->targets;
    Batch batch = toDevice(std::move(*read), m_session.device);
    m_report->lap(metric::kPhaseDataMs);
    return batch;
}

Result<at::Tensor> TrainLoop::gradients(int64_t step) {
    m_targets = 0;
    Result<at::Tensor> loss = m_graphedStep ? recordedBatches(step) : microBatches();
    m_cursor += m_partition.positionsPerStep();
    return loss;
}

Result<at::Tensor> TrainLoop::recordedBatches(int64_t step) {
    std::vector<Batch> batches;
    for (int64_t micro = 0; micro < m_partition.accumulation(); ++micro) {
        auto batch = nextBatch();
        if (!batch)
            return tl::unexpected(batch.error());
        batches.push_back(std::move(*batch));
    }
    m_board.setPhase(Phase::kForward);
    return m_graphedStep->gradients(batches, step);
}

/// Forward and backward of one batch as GraphedStep wants it: the batch's mean loss.
at::Tensor TrainLoop::addGradients(const Batch& batch, const at::Tensor& weight) {
    const at::Tensor loss = forward(batch);
    m_report->lap(metric::kPhaseForwardMs);
    m_sync->backward(loss, m_scaler.seed(loss, weight), true);
    m_report->lap(metric::kPhaseAllreduceMs);
    return loss.detach();
}

/// Forward and backward of the whole step: the mean loss over this rank's targets, on the device.
/// Each micro-batch counts by its share of all ranks' targets, so that the sum of the gradients is
/// that of the mean over the step's targets however they are cut.
Result<at::Tensor> TrainLoop::microBatches() {
    m_sync->beginStep();
    const bool isOnly = m_world.isAlone() && m_partition.accumulation() == 1;
    const int64_t allTargets = isOnly ? 0 : m_partition.targets(m_task->training(), m_cursor);
    at::Tensor total;
    for (int64_t micro = 0; micro < m_partition.accumulation(); ++micro) {
        const auto given = nextBatch();
        if (!given)
            return tl::unexpected(given.error());
        const Batch& batch = *given;
        m_board.setPhase(Phase::kForward);
        const at::Tensor loss = forward(batch);
        m_report->lap(metric::kPhaseForwardMs);
        m_board.setPhase(Phase::kBackward);
        const double weight =
            isOnly ? 1.0 : static_cast<double>(batch.targets) / static_cast<double>(allTargets);
        const bool last = micro + 1 == m_partition.accumulation();
        m_sync->backward(loss, m_scaler.seed(loss, weight), last);
        m_report->lap(last ? metric::kPhaseAllreduceMs : metric::kPhaseBackwardMs);
        if (m_partition.accumulation() == 1)
            total = loss.detach();
        else if (const at::Tensor sum = loss.detach() * batch.targets; total.defined())
            total.add_(sum);
        else
            total = sum;
    }
    return m_partition.accumulation() == 1 ? total : total.div_(m_targets);
}

void TrainLoop::publishStep(const at::Tensor& loss, const at::Tensor& gradNorm) {
    if (!isLogged(m_step)) {
        m_report->endStep();
        return;
    }
    m_figures.loss = loss.item<double>();
    m_figures.gradNorm = gradNorm.item<double>();
    if (m_world.isFirst() && m_scaler.scalesLoss())
        m_figures.lossScale = m_scaler.lossScale();
    if (m_world.isFirst() && m_scaler.mode() == GradScaler::Mode::kSkips)
        m_figures.skipped = m_scaler.skipped();
    m_report->endStep();
    m_report->publish(m_figures, m_targets, m_task->throughputMetric());
    const bool prints = m_loggedSteps++ % kPrintEvery == 0 || isLast();
    if (m_world.isFirst() && prints)
        printStep();
}

void TrainLoop::printStep() {
    const char* unit = m_task->throughputMetric() == metric::kTrainImagesPerS ? "img" : "tok";
    std::printf(
        "step %lld/%lld  loss %.4f  lr %.3g  %.0f %s/s  %.1f ms\n", static_cast<long long>(m_step),
        static_cast<long long>(m_spec.train.steps), m_figures.loss, m_figures.lr,
        m_report->targetsPerSec() * static_cast<double>(m_world.size()), unit, m_report->stepMs());
    std::fflush(stdout);
}

/// Between two steps.
Result<std::optional<Ending>> TrainLoop::boundary() {
    auto ending = guard();
    if (!ending || *ending)
        return ending;
    if (isValidationDue())
        if (const auto done = validateAndWatch(); !done)
            return tl::unexpected(done.error());
    if (isCheckpointDue())
        save("every " + std::to_string(m_spec.checkpoint.every));
    else if (m_spec.checkpoint.keepBest && isBestValidation())
        save("best");
    return obeyOrders();
}

Result<Ending> TrainLoop::finish() {
    if (m_spec.validation.every > 0 && m_validatedAt != m_step)
        if (const auto done = validateAndWatch(); !done)
            return tl::unexpected(done.error());
    if (const auto saved = saveAndWait("end"); !saved)
        return tl::unexpected(saved.error());
    m_board.setPhase(Phase::kEnding);
    m_world.barrier(); // rank 0 serves the store until all are done
    return Ending{};
}

} // namespace rm
