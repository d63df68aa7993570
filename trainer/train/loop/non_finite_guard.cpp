// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/non_finite_guard.h"

#include "shared/return_if_error.h"
#include "trainer/train/loop/rollback.h"

#include <string>

namespace rm {
namespace {

constexpr int64_t kHopelessSkips = 100;

} // namespace

NonFiniteGuard::NonFiniteGuard(Training& training, Rollback& rollback)
    : m_training(training)
    , m_rollback(rollback) {}

void NonFiniteGuard::resume(int64_t skipped) {
    m_lookedAt = m_training.step;
    m_lookedSkips = skipped;
}

Result<std::optional<Ending>> NonFiniteGuard::look() {
    if (m_training.scaler.isShut())
        return recover();
    if (m_training.scaler.mode() == GradScaler::Mode::kSkips && isHopeless())
        return recover();
    return std::nullopt;
}

/// Whether so many consecutive updates were skipped that training should not continue.
bool NonFiniteGuard::isHopeless() {
    const GradScaler& scaler = m_training.scaler;
    const int64_t steps = m_training.step - m_lookedAt;
    const int64_t skips = scaler.skipped() - m_lookedSkips;
    m_lookedAt += steps;
    m_lookedSkips += skips;
    m_skipsOnEnd = skips == steps ? m_skipsOnEnd + skips : 0;
    if (skips > 0 && !scaler.scalesLoss()) // normal while float16 adapts its loss scale
        m_training.event(
            Severity::kWarning, "steps-skipped",
            "step " + std::to_string(m_training.step) + ": the last " + std::to_string(steps) +
                " steps had " + std::to_string(skips) +
                " whose loss or gradients were not finite; their updates were left out");
    return m_skipsOnEnd >= kHopelessSkips;
}

Result<std::optional<Ending>> NonFiniteGuard::recover() {
    const int64_t step = m_training.step;
    const GradScaler& scaler = m_training.scaler;
    const int64_t held =
        scaler.mode() == GradScaler::Mode::kSkips ? m_skipsOnEnd : scaler.heldSinceOpen();
    const std::string cause = "train step " + std::to_string(step - held + 1) +
                              ": the loss or its gradients are not finite any more";
    m_recoveredAt = step;
    if (m_training.spec.train.onNonFinite == "rollback") {
        // No update was made since that step, so the weights are those from before it.
        RM_ASSIGN_OR_RETURN(const auto done, m_rollback.to(step + 1, cause));
        if (done == Rollback::Outcome::kDone)
            return std::nullopt;
    }
    return Ending{ExitCode::kNonFinite,
                  cause + "; resume from an earlier checkpoint with a smaller optimizer.lr or "
                          "more schedule.warmup_steps"};
}

} // namespace rm
