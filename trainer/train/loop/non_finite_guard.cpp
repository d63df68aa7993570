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

namespace {

std::string leftOut(int64_t step, int64_t skips, int64_t steps, const char* which) {
    return "train step " + std::to_string(step) + ": " + std::to_string(skips) + " of " + which +
           std::to_string(steps) +
           " steps had a loss or gradients that were not finite, and their updates were left out";
}

Ending endingOf(const std::string& cause) {
    return {ExitCode::kNonFinite,
            cause + "; a resume would meet the same: branch from an earlier checkpoint with a "
                    "smaller optimizer.lr or more schedule.warmup_steps"};
}

} // namespace

Result<std::optional<Ending>> NonFiniteGuard::look() {
    const GradScaler& scaler = m_training.scaler;
    if (scaler.isShut())
        return recover();
    if (scaler.mode() == GradScaler::Mode::kSkips)
        if (const auto bad = hopelessSpan())
            return recover(m_training.step - bad->steps + 1,
                           leftOut(m_training.step, bad->skips, bad->steps, "the last "));
    return std::nullopt;
}

/// The last steps, if so many of their updates were skipped that training should not continue.
std::optional<NonFiniteGuard::Span> NonFiniteGuard::hopelessSpan() {
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
    if (m_all.skips >= std::max<int64_t>(1, 2 * m_reportedSkips))
        reportSkips();
    const Span last = recent();
    return last.steps >= kWindow && 2 * last.skips > last.steps ? std::optional(last)
                                                                : std::nullopt;
}

/// The first time, and again when there are twice as many. That float16 skips some while it adapts
/// its loss scale is normal.
void NonFiniteGuard::reportSkips() {
    if (m_training.scaler.scalesLoss())
        return;
    m_reportedSkips = m_all.skips;
    m_training.event(Severity::kWarning, "steps-skipped",
                     leftOut(m_training.step, m_all.skips, m_all.steps, ""));
}

Result<std::optional<Ending>> NonFiniteGuard::recover() {
    const GradScaler& scaler = m_training.scaler;
    const int64_t step = m_training.step;
    if (scaler.mode() == GradScaler::Mode::kSkips)
        return recover(step + 1, leftOut(step, m_all.skips, m_all.steps, ""));
    // No update was made since that step, so the weights are those from before it.
    return recover(step + 1, "train step " + std::to_string(step - scaler.heldSinceOpen() + 1) +
                                 ": the loss or its gradients are not finite any more");
}

Result<std::optional<Ending>> NonFiniteGuard::recover(int64_t firstBad, const std::string& cause) {
    m_recoveredAt = m_training.step;
    if (m_training.spec.train.onNonFinite == "rollback") {
        RM_ASSIGN_OR_RETURN(const auto done, m_rollback.to(firstBad, cause));
        if (done == Rollback::Outcome::kDone) {
            m_recent.clear();
            return std::nullopt;
        }
    }
    return endingOf(cause);
}

std::optional<Ending> NonFiniteGuard::ending() {
    if (m_all.skips > m_reportedSkips)
        reportSkips();
    if (m_training.scaler.scalesLoss() || 2 * m_all.skips <= m_all.steps)
        return std::nullopt;
    return endingOf(leftOut(m_training.step, m_all.skips, m_all.steps, ""));
}

} // namespace rm
