// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/validator.h"

#include "shared/spec/schema.h"

#include <cmath>
#include <cstdio>

namespace rm {

Validator::Validator(Training& training)
    : m_training(training)
    , m_watch(training.spec.train.watch) {}

Result<void> Validator::validate() {
    const auto figure = measure();
    const RunSpec::Train& train = m_training.spec.train;
    if (figure)
        noteFigure(*figure);
    else if (train.patience > 0)
        return fail(ErrorCode::kInvalid, "watch train.watch = \"" + train.watch +
                                             "\": the validation gives no such figure");
    return {};
}

bool Validator::validateByCommand() {
    const auto figure = measure();
    if (!figure || !m_watch.isBetter(*figure, m_watched.best))
        return false;
    noteFigure(*figure);
    return true;
}

/// Returns the watched figure.
std::optional<double> Validator::measure() {
    const World& world = m_training.world;
    const StepReport::Span span(m_training.report, TraceKind::kValidation);
    m_training.board.setPhase(Phase::kValidation);
    m_training.sync.settle();
    std::vector<at::Tensor> buffers; // a checkpoint gets rank 0's
    for (const Buffer& buffer : m_training.model.buffers())
        buffers.push_back(buffer.value);
    if (!buffers.empty())
        world.broadcast(std::move(buffers));
    const WeightAverage::InModel averaged(m_training.average.get());
    std::optional<double> watched;
    m_validatedAt = m_training.step;
    for (const Figure& figure : m_training.task->validate()) {
        if (figure.id == metric::kValidationLoss)
            m_loss = figure.value;
        if (figure.id == m_watch.metric())
            watched = figure.value;
        if (!world.isFirst())
            continue;
        m_training.report.publishAlone(figure.id, figure.value, m_training.step);
        if (m_report)
            m_report(figure.id, figure.value);
        std::printf("step %lld  %s %.4f\n", static_cast<long long>(m_training.step),
                    findBuiltinMetric(figure.id)->name.c_str(), figure.value);
    }
    sample();
    return watched;
}

void Validator::sample() {
    const RunSpec& spec = m_training.spec;
    if (!m_training.world.isFirst() || !(writesSamples(spec) || keepsPictures(spec)))
        return;
    const StepReport::Span span(m_training.report, TraceKind::kValidation);
    m_training.board.setPhase(Phase::kValidation);
    m_training.sync.settle();
    for (const SampleText& sample : m_training.task->samples(m_training.step)) {
        if (sample.kind != SampleKind::kPicture)
            std::printf("--- sample at step %lld\n%s\n---\n",
                        static_cast<long long>(m_training.step), sampleWords(sample).c_str());
        m_training.session.telemetry->append(sample);
    }
    if (const auto confusion = m_training.task->confusion(m_training.step))
        m_training.session.telemetry->append(*confusion);
    std::fflush(stdout);
}

void Validator::noteFigure(double figure) {
    m_watch.note(m_watched, figure);
    m_watchedAt = m_training.step;
}

bool Validator::isBest() const {
    return m_watchedAt == m_training.step && m_watched.sinceBest == 0;
}

bool Validator::isPatienceOver() const {
    const int64_t patience = m_training.spec.train.patience;
    return patience > 0 && m_watched.sinceBest >= patience && !m_training.isLast();
}

std::string Validator::whyPatienceIsOver() const {
    char text[160];
    std::snprintf(text, sizeof text,
                  "stopped early at step %lld: %s was not better than %g in %lld validations",
                  static_cast<long long>(m_training.step),
                  findBuiltinMetric(m_watch.metric())->name.c_str(), m_watched.best,
                  static_cast<long long>(m_watched.sinceBest));
    return text;
}

bool Validator::noteSaving(bool bestIsThere) {
    if (!bestIsThere)
        m_watched.bestSaved = std::numeric_limits<double>::quiet_NaN();
    if (m_watchedAt == m_training.step && m_watch.isBetter(m_watched.last, m_watched.bestSaved)) {
        m_watched.bestSaved = m_watched.last;
        m_watched.bestSavedStep = m_training.step;
    }
    return m_watched.bestSavedStep == m_training.step;
}

std::optional<Manifest::Watched> Validator::watchedNow() const {
    if (m_watchedAt != m_training.step || !std::isfinite(m_watched.last))
        return std::nullopt;
    return Manifest::Watched{metricName(m_watch.metric()), m_watched.last};
}

void Validator::store(TrainState& state) const {
    state.validationLoss = m_loss;
    state.watched = m_watched;
}

void Validator::restore(const TrainState& from) {
    m_loss = from.validationLoss;
    m_watched = from.watched;
}

} // namespace rm
