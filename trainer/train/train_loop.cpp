// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/train_loop.h"

#include "shared/io/clock.h"
#include "trainer/train/evaluate.h"
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
        trainStep();
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

void TrainLoop::trainStep() {
    const int64_t step = m_step + 1;
    m_report->beginStep(step, isLogged(step));
    m_sync->beginStep();
    const at::Tensor loss = microBatches();
    m_board.setPhase(Phase::kOptimizer);
    const at::Tensor gradNorm = clipGradients(parameterValues(*m_model), clip());
    m_figures.lr = learningRate(m_spec.schedule, lr(), step, m_spec.train.steps);
    m_optimizer.step(m_figures.lr);
    m_report->lap(metric::kPhaseOptimizerMs);
    m_step = step;
    m_board.setStep(step);
    m_control->setStep(step);
    publishStep(loss, gradNorm);
}

/// Forward and backward of the whole step: its mean loss on this rank, on the device.
at::Tensor TrainLoop::microBatches() {
    const auto& train = m_spec.train;
    at::Tensor total;
    for (int64_t micro = 0; micro < train.accumulation; ++micro) {
        m_board.setPhase(Phase::kData);
        const int64_t start =
            microBatchStart(m_cursor, micro, m_world.rank(), m_world.size(), train.batchSize);
        const Batch batch = toDevice(m_batches.at(start, train.batchSize), m_session.device.at);
        m_report->lap(metric::kPhaseDataMs);
        m_board.setPhase(Phase::kForward);
        at::Tensor loss;
        {
            const Autocast autocast(train.precision, m_session.device);
            loss = m_model->loss(batch, true);
        }
        if (train.accumulation > 1)
            loss = loss / train.accumulation;
        m_report->lap(metric::kPhaseForwardMs);
        m_board.setPhase(Phase::kBackward);
        const bool last = micro + 1 == train.accumulation;
        m_sync->backward(loss, last);
        m_report->lap(last ? metric::kPhaseAllreduceMs : metric::kPhaseBackwardMs);
        total = total.defined() ? total + loss.detach() : loss.detach();
    }
    m_cursor += m_world.size() * train.accumulation * train.batchSize;
    return total;
}

void TrainLoop::publishStep(const at::Tensor& loss, const at::Tensor& gradNorm) {
    if (!isLogged(m_step)) {
        m_report->endStep();
        return;
    }
    m_figures.loss = loss.item<double>();
    m_figures.gradNorm = gradNorm.item<double>();
    m_report->endStep();
    const auto& train = m_spec.train;
    m_report->publish(m_figures, train.accumulation * train.batchSize * m_spec.model.context);
    const bool prints = m_loggedSteps++ % kPrintEvery == 0 || m_step == train.steps;
    if (!m_world.isFirst() || !prints)
        return;
    std::printf("step %lld/%lld  loss %.4f  lr %.3g  %.0f tok/s  %.1f ms\n",
                static_cast<long long>(m_step), static_cast<long long>(train.steps), m_figures.loss,
                m_figures.lr, m_report->tokensPerSec() * static_cast<double>(m_world.size()),
                m_report->stepMs());
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
    const auto loss = validationLoss(*m_model, m_data, m_session);
    m_validatedAt = m_step;
    if (loss) {
        m_validationLoss = *loss;
        if (m_world.isFirst()) {
            m_report->publishAlone(metric::kValidationLoss, *loss, m_step);
            std::printf("step %lld  validation loss %.4f\n", static_cast<long long>(m_step), *loss);
        }
    }
    sample();
}

void TrainLoop::sample() {
    if (!m_world.isFirst() || m_spec.validation.sampleTokens == 0)
        return;
    m_board.setPhase(Phase::kValidation);
    const std::string text = writeSample(*m_model, m_data, m_spec, m_step);
    std::printf("--- sample at step %lld\n%s\n---\n", static_cast<long long>(m_step), text.c_str());
    std::fflush(stdout);
    m_session.telemetry->append(SampleText{m_step, wallNowNs(), m_spec.validation.prompt, text});
}

} // namespace rm
