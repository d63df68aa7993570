// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/spike_guard.h"

#include "shared/return_if_error.h"
#include "trainer/train/loop/rollback.h"

#include <cmath>
#include <cstdio>
#include <utility>

namespace rm {
namespace {

constexpr int64_t kQuietSteps = 100; ///< after a warning

// At the default threshold: a fifth above the median of losses, twice the median of norms.
constexpr double kLeastLossSpread = 0.02;
constexpr double kLeastNormSpread = 0.1;

std::string spikeText(const char* what, const SpikeWatch& watch, double value) {
    char text[128];
    std::snprintf(text, sizeof text,
                  "%s %.4g is above its median of %.4g by %.1f times its usual variation", what,
                  value, watch.median(), watch.score(value));
    return text;
}

} // namespace

SpikeGuard::SpikeGuard(Training& training, Rollback& rollback)
    : m_training(training)
    , m_rollback(rollback)
    , m_losses(training.spec.train.spikeWindow, training.spec.train.spikeThreshold,
               kLeastLossSpread)
    , m_norms(training.spec.train.spikeWindow, training.spec.train.spikeThreshold,
              kLeastNormSpread) {}

bool SpikeGuard::isOn() const {
    return m_training.spec.train.onSpike != "ignore";
}

bool SpikeGuard::skips() const {
    return m_training.spec.train.onSpike == "skip";
}

void SpikeGuard::onStep(double loss, double gradNorm) {
    m_new = {m_training.step, loss, gradNorm, normLimit()};
}

std::optional<double> SpikeGuard::reportLoss() {
    m_reported = std::exchange(m_new, std::nullopt);
    const bool isWanted = isOn() || !m_training.spec.rules.empty();
    return m_reported && isWanted ? std::optional(m_reported->loss) : std::nullopt;
}

Result<std::optional<Ending>> SpikeGuard::judge(std::optional<double> meanLoss) {
    const std::optional<Figures> reported = std::exchange(m_reported, std::nullopt);
    if (!reported || !isOn())
        return std::nullopt;
    std::string what;
    if (meanLoss && m_losses.isSpike(*meanLoss))
        what = spikeText("the loss", m_losses, *meanLoss);
    // Whether the update was left out is decided before the step, with fewer norms than now.
    const bool isLeftOut = skips() && reported->gradNorm > reported->normLimit;
    if (std::isfinite(reported->gradNorm) && (isLeftOut || m_norms.isSpike(reported->gradNorm)))
        what += (what.empty() ? "" : ", and ") +
                spikeText("the gradient norm", m_norms, reported->gradNorm) +
                (isLeftOut ? "; its update was left out" : "");
    // Values that are not finite are handled by NonFiniteGuard.
    if (meanLoss)
        m_losses.note(*meanLoss);
    if (std::isfinite(reported->gradNorm))
        m_norms.note(reported->gradNorm);
    return what.empty() ? Result<std::optional<Ending>>(std::nullopt) : act(*reported, what);
}

Result<std::optional<Ending>> SpikeGuard::act(const Figures& at, const std::string& what) {
    const std::string& policy = m_training.spec.train.onSpike;
    const std::string cause = "train step " + std::to_string(at.step) + ": " + what;
    if (policy == "stop")
        return Ending{ExitCode::kSpiked,
                      cause + "; train.on_spike = \"stop\" ended the run: branch from an earlier "
                              "checkpoint, with a smaller optimizer.lr or other samples"};
    if (policy != "rollback") {
        warn(at, cause);
        return std::nullopt;
    }
    RM_ASSIGN_OR_RETURN(const auto done, m_rollback.to(at.step, cause));
    switch (done) {
    case Rollback::Outcome::kDone:
        break;
    case Rollback::Outcome::kNoCheckpoint:
        warn(at, cause + "; there is no checkpoint from before it to go back to");
        break;
    case Rollback::Outcome::kUseless:
        return Ending{ExitCode::kSpiked,
                      cause + "; going back to a checkpoint did not help several times: branch "
                              "from an earlier one, with a smaller optimizer.lr"};
    }
    return std::nullopt;
}

void SpikeGuard::warn(const Figures& at, const std::string& what) {
    if (m_warnedAt >= 0 && at.step - m_warnedAt < kQuietSteps) {
        ++m_unreported;
        return;
    }
    const int64_t unreported = std::exchange(m_unreported, 0);
    m_warnedAt = at.step;
    m_training.event(Severity::kWarning, "spike",
                     what + (unreported ? " (" + std::to_string(unreported) +
                                              " more since the last of "
                                              "these warnings)"
                                        : ""));
}

double SpikeGuard::normLimit() const {
    return m_norms.limit();
}

void SpikeGuard::store(TrainState& state) const {
    if (skips() || m_training.spec.train.onSpike == "rollback")
        state.spikes = {m_losses.values(), m_norms.values()};
}

void SpikeGuard::restore(const TrainState& from) {
    m_losses.restore(from.spikes.losses);
    m_norms.restore(from.spikes.gradNorms);
    m_new.reset(); // figures of weights that are gone
    m_reported.reset();
}

} // namespace rm
