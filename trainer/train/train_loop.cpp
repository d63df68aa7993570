// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/train_loop.h"

#include "shared/io/clock.h"
#include "trainer/train/autocast.h"
#include "trainer/train/optim/gradients.h"
#include "trainer/train/optim/schedule.h"

#include <cmath>
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

Result<Ending> TrainLoop::run() {
    if (m_session.options.saveInitial && m_step == 0)
        if (const auto saved = save("initial"); !saved)
            return tl::unexpected(saved.error());
    while (m_step < m_spec.train.steps) {
        m_control->begin();
        if (const auto done = trainStep(); !done)
            return tl::unexpected(done.error());
        if (const auto broken = brokenNumbers())
            return *broken;
        if (const auto done = cadence(); !done)
            return tl::unexpected(done.error());
        const auto ending = obeyOrders();
        if (!ending)
            return tl::unexpected(ending.error());
        if (*ending)
            return **ending;
    }
    return finish();
}

Result<void> TrainLoop::trainStep() {
    const int64_t step = m_step + 1;
    m_report->beginStep(step, isLogged(step));
    m_sync->beginStep();
    const auto loss = microBatches();
    if (!loss)
        return tl::unexpected(loss.error());
    m_board.setPhase(Phase::kOptimizer);
    const at::Tensor gradNorm = clipGradients(m_values, clip());
    m_figures.lr = learningRate(m_spec.schedule, lr(), step, m_spec.train.steps);
    m_optimizer->step(m_figures.lr);
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

/// Forward and backward of the whole step: the mean loss over this rank's targets, on the device.
/// Each micro-batch counts by its share of all ranks' targets, so that the gradient is that of the
/// mean over the step's targets however they are cut. GradientSync divides by the world size.
Result<at::Tensor> TrainLoop::microBatches() {
    const auto worldSize = static_cast<double>(m_world.size());
    const auto allTargets = static_cast<double>(m_cut.targets(m_task->training(), m_cursor));
    at::Tensor total;
    m_targets = 0;
    for (int64_t micro = 0; micro < m_cut.accumulation(); ++micro) {
        m_board.setPhase(Phase::kData);
        auto read = m_feed->next();
        if (!read)
            return tl::unexpected(read.error());
        const Batch batch = toDevice(std::move(*read), m_session.device.at);
        m_report->lap(metric::kPhaseDataMs);
        m_board.setPhase(Phase::kForward);
        const double weight = static_cast<double>(batch.targets) * worldSize / allTargets;
        at::Tensor loss = forward(batch);
        const at::Tensor sum = loss.detach() * batch.targets;
        if (weight != 1.0)
            loss = loss * weight;
        m_report->lap(metric::kPhaseForwardMs);
        m_board.setPhase(Phase::kBackward);
        const bool last = micro + 1 == m_cut.accumulation();
        m_sync->backward(loss, last);
        m_report->lap(last ? metric::kPhaseAllreduceMs : metric::kPhaseBackwardMs);
        total = total.defined() ? total + sum : sum;
        m_targets += batch.targets;
    }
    m_cursor += m_cut.positionsPerStep();
    return total / m_targets;
}

void TrainLoop::publishStep(const at::Tensor& loss, const at::Tensor& gradNorm) {
    if (!isLogged(m_step)) {
        m_report->endStep();
        return;
    }
    m_figures.loss = loss.item<double>();
    m_figures.gradNorm = gradNorm.item<double>();
    m_report->endStep();
    m_report->publish(m_figures, m_targets, m_task->throughputMetric());
    const bool prints = m_loggedSteps++ % kPrintEvery == 0 || m_step == m_spec.train.steps;
    if (!m_world.isFirst() || !prints)
        return;
    std::printf(
        "step %lld/%lld  loss %.4f  lr %.3g  %.0f tok/s  %.1f ms\n", static_cast<long long>(m_step),
        static_cast<long long>(m_spec.train.steps), m_figures.loss, m_figures.lr,
        m_report->targetsPerSec() * static_cast<double>(m_world.size()), m_report->stepMs());
    std::fflush(stdout);
}

/// The norm is global: it breaks on every rank at the same step.
std::optional<Ending> TrainLoop::brokenNumbers() const {
    if (!isLogged(m_step) || std::isfinite(m_figures.gradNorm))
        return std::nullopt;
    return Ending{ExitCode::kNonFinite,
                  "train step " + std::to_string(m_step) + ": the loss (" +
                      std::to_string(m_figures.loss) +
                      " here) or its gradients are not finite any more; resume from an earlier "
                      "checkpoint with a smaller optimizer.lr or more schedule.warmup_steps"};
}

Result<void> TrainLoop::cadence() {
    const bool isLast = m_step == m_spec.train.steps;
    if (isDue(m_spec.validation.every, m_step) && !isLast)
        validate();
    if (isDue(m_spec.checkpoint.every, m_step) && !isLast)
        return save("every " + std::to_string(m_spec.checkpoint.every));
    return {};
}

Result<Ending> TrainLoop::finish() {
    if (m_spec.validation.every > 0 && m_validatedAt != m_step)
        validate();
    if (const auto saved = save("end"); !saved)
        return tl::unexpected(saved.error());
    m_board.setPhase(Phase::kEnding);
    m_world.barrier(); // rank 0 serves the store until all are done
    return Ending{};
}

void TrainLoop::validate() {
    m_board.setPhase(Phase::kValidation);
    const auto figures = m_task->validate();
    m_validatedAt = m_step;
    for (const Figure& figure : figures) {
        if (figure.id == metric::kValidationLoss)
            m_validationLoss = figure.value;
        if (!m_world.isFirst())
            continue;
        m_report->publishAlone(figure.id, figure.value, m_step);
        std::printf("step %lld  %s %.4f\n", static_cast<long long>(m_step),
                    findBuiltinMetric(figure.id)->name.c_str(), figure.value);
    }
    sample();
}

void TrainLoop::sample() {
    if (!m_world.isFirst() || m_spec.validation.sampleTokens == 0)
        return;
    m_board.setPhase(Phase::kValidation);
    for (const SampleText& sample : m_task->samples(m_step)) {
        std::printf("--- sample at step %lld\n%s\n---\n", static_cast<long long>(m_step),
                    sample.text.c_str());
        m_session.telemetry->append(sample);
    }
    std::fflush(stdout);
}

} // namespace rm
