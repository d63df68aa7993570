// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/non_finite_guard.h"

#include "shared/return_if_error.h"
#include "trainer/train/loop/rollback.h"

#include <algorithm>
#include <string>

namespace rm {
namespace {

constexpr int64_t kWindow = 100; ///< steps, of which most were left out when training ends

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

/// Whether so many of the last updates were skipped that training should not continue.
bool NonFiniteGuard::isHopeless() {
    m_lookedAt = std::min(m_lookedAt, m_training.step); // a rollback may lie between
    const Span span{m_training.step - m_lookedAt, m_training.scaler.skipped() - m_lookedSkips};
    m_lookedAt += span.steps;
    m_lookedSkips += span.skips;
    m_all = {m_all.steps + span.steps, m_all.skips + span.skips};
    m_recent.push_back(span);
    const auto recent = [this] {
        Span sum;
        for (const Span& each : m_recent)
            sum = {sum.steps + each.steps, sum.skips + each.skips};
        return sum;
    };
    while (recent().steps - m_recent.front().steps >= kWindow)
        m_recent.pop_front();
    if (m_all.skips >= std::max<int64_t>(1, 2 * m_toldSkips))
        tell();
    const Span last = recent();
    return last.steps >= kWindow && 2 * last.skips > last.steps;
}

/// The first time, and again when there are twice as many. That float16 skips some while it adapts
/// its loss scale is normal.
void NonFiniteGuard::tell() {
    if (m_training.scaler.scalesLoss())
        return;
    m_toldSkips = m_all.skips;
    m_training.event(Severity::kWarning, "steps-skipped",
                     "step " + std::to_string(m_training.step) + ": of " +
                         std::to_string(m_all.steps) + " steps " + std::to_string(m_all.skips) +
                         " had a loss or gradients that were not finite; their updates were left "
                         "out");
}

std::string NonFiniteGuard::cause() const {
    const GradScaler& scaler = m_training.scaler;
    if (scaler.mode() != GradScaler::Mode::kSkips)
        return "train step " + std::to_string(m_training.step - scaler.heldSinceOpen() + 1) +
               ": the loss or its gradients are not finite any more";
    return "train step " + std::to_string(m_training.step) + ": " + std::to_string(m_all.skips) +
           " of " + std::to_string(m_all.steps) +
           " steps had a loss or gradients that were not finite, so most updates were left out";
}

namespace {

Ending endingOf(const std::string& cause) {
    return {ExitCode::kNonFinite,
            cause + "; resume from an earlier checkpoint with a smaller optimizer.lr or "
                    "more schedule.warmup_steps"};
}

} // namespace

Result<std::optional<Ending>> NonFiniteGuard::recover() {
    const int64_t step = m_training.step;
    m_recoveredAt = step;
    if (m_training.spec.train.onNonFinite == "rollback") {
        // No update was made since that step, so the weights are those from before it.
        RM_ASSIGN_OR_RETURN(const auto done, m_rollback.to(step + 1, cause()));
        if (done == Rollback::Outcome::kDone) {
            m_recent.clear();
            return std::nullopt;
        }
    }
    return endingOf(cause());
}

std::optional<Ending> NonFiniteGuard::ending() {
    if (m_all.skips > m_toldSkips)
        tell();
    if (m_training.scaler.scalesLoss() || 2 * m_all.skips <= m_all.steps)
        return std::nullopt;
    return endingOf(cause());
}

} // namespace rm
