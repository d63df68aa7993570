// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/non_finite_guard.h"

#include "shared/return_if_error.h"
#include "trainer/train/loop/checkpointer.h"

namespace rm {
namespace {

constexpr int64_t kHopelessSkips = 100;
constexpr int kMaxRollbacks = 3; ///< each within kCalmSteps after the one before
constexpr int64_t kCalmSteps = 1000;

} // namespace

NonFiniteGuard::NonFiniteGuard(Training& training, Checkpointer& checkpointer)
    : m_training(training)
    , m_checkpointer(checkpointer) {}

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
    const bool isCalm = m_recoveredAt < 0 || step - m_recoveredAt > kCalmSteps;
    m_rollbacks = isCalm ? 1 : m_rollbacks + 1;
    m_recoveredAt = step;
    if (m_training.spec.train.onNonFinite == "rollback" && m_rollbacks <= kMaxRollbacks) {
        RM_ASSIGN_OR_RETURN(const auto done, rollBack(cause));
        if (done)
            return std::nullopt;
    }
    return Ending{ExitCode::kNonFinite,
                  cause + "; resume from an earlier checkpoint with a smaller optimizer.lr or "
                          "more schedule.warmup_steps"};
}

/// Loads weights, averages and optimizer of the newest checkpoint. Steps and samples continue from
/// here, as repeating the samples would break the run again. False when there is no checkpoint.
Result<bool> NonFiniteGuard::rollBack(const std::string& cause) {
    RM_ASSIGN_OR_RETURN(const auto dir, m_checkpointer.newest());
    if (dir.empty())
        return false;
    RM_ASSIGN_OR_RETURN(const auto state, readTrainState(m_training.world, dir));
    RM_RETURN_IF_ERROR(m_checkpointer.load(dir));
    m_training.restoreScaler(state, m_training.scaler.skipped());
    m_training.seedFresh();
    m_training.event(Severity::kWarning, "rolled-back",
                     cause + ": weights and optimizer are those of step " +
                         std::to_string(state.step) + " again, training goes on with step " +
                         std::to_string(m_training.step + 1) + " and the samples from position " +
                         std::to_string(m_training.cursor) + " on");
    return true;
}

} // namespace rm
