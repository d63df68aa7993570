// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/train_loop.h"

#include <cstdio>

namespace rm {

/// Measures with the averaged weights where there are any; returns the figure that is watched.
std::optional<double> TrainLoop::validate() {
    m_board.setPhase(Phase::kValidation);
    m_sync->settle();
    std::vector<at::Tensor> buffers; // rank 0's are those that a checkpoint gets
    for (const Buffer& buffer : m_model.buffers())
        buffers.push_back(buffer.value);
    if (!buffers.empty())
        m_world.broadcast(std::move(buffers));
    const WeightAverage::InModel averaged(m_average.get());
    std::optional<double> watched;
    m_validatedAt = m_step;
    for (const Figure& figure : m_task->validate()) {
        if (figure.id == metric::kValidationLoss)
            m_validationLoss = figure.value;
        if (figure.id == m_watch.metric())
            watched = figure.value;
        if (!m_world.isFirst())
            continue;
        m_report->publishAlone(figure.id, figure.value, m_step);
        std::printf("step %lld  %s %.4f\n", static_cast<long long>(m_step),
                    findBuiltinMetric(figure.id)->name.c_str(), figure.value);
    }
    sample();
    return watched;
}

/// A validation that counts for train.patience.
Result<void> TrainLoop::validateAndWatch() {
    const auto figure = validate();
    if (figure)
        noteFigure(*figure);
    else if (m_spec.train.patience > 0)
        return fail(ErrorCode::kInvalid, "watch train.watch = \"" + m_spec.train.watch +
                                             "\": the validation gives no such figure");
    return {};
}

/// Does not count for train.patience, unless it is the best.
void TrainLoop::validateByCommand() {
    const auto figure = validate();
    if (!figure || !m_watch.isBetter(*figure, m_watched.best))
        return;
    noteFigure(*figure);
    if (m_spec.checkpoint.keepBest)
        save("best");
}

void TrainLoop::noteFigure(double figure) {
    m_watch.note(m_watched, figure);
    m_watchedAt = m_step;
}

/// Whether the weights are those of the best validation so far.
bool TrainLoop::isBestValidation() const {
    return m_watchedAt == m_step && m_watched.sinceBest == 0;
}

void TrainLoop::sample() {
    if (!m_world.isFirst() || m_spec.validation.sampleTokens == 0)
        return;
    m_board.setPhase(Phase::kValidation);
    m_sync->settle();
    for (const SampleText& sample : m_task->samples(m_step)) {
        std::printf("--- sample at step %lld\n%s%s\n---\n", static_cast<long long>(m_step),
                    sample.prompt.c_str(), sample.text.c_str());
        m_session.telemetry->append(sample);
    }
    std::fflush(stdout);
}

bool TrainLoop::isPatienceOver() const {
    const int64_t patience = m_spec.train.patience;
    return patience > 0 && m_watched.sinceBest >= patience && !isLast();
}

Result<Ending> TrainLoop::finishEarly() {
    char text[160];
    std::snprintf(text, sizeof text,
                  "stopped early at step %lld: %s was not better than %g in %lld validations",
                  static_cast<long long>(m_step), findBuiltinMetric(m_watch.metric())->name.c_str(),
                  m_watched.best, static_cast<long long>(m_watched.sinceBest));
    if (m_world.isFirst())
        m_session.event(Severity::kInfo, "stopped-early", text, m_step);
    return finish();
}

} // namespace rm
