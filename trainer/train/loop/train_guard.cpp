// SPDX-License-Identifier: Apache-2.0
// Losses and gradients that are not finite. The scaler keeps them out of the weights on the device,
// at every step and on all ranks alike; here the host learns of it and does what the spec says.
#include "trainer/train/dist/agree.h"
#include "trainer/train/loop/train_loop.h"

namespace rm {
namespace {

constexpr int64_t kHopelessSkips = 100;
constexpr int kMaxRollbacks = 3; ///< each within kCalmSteps after the one before
constexpr int64_t kCalmSteps = 1000;

} // namespace

/// Where the host waits for the device anyway. Between them it hears of a shut scaler by the
/// orders.
bool TrainLoop::looksAtGate() const {
    return isLogged(m_step) || isValidationDue() || isCheckpointDue();
}

Result<std::optional<Ending>> TrainLoop::guard() {
    if (!looksAtGate())
        return std::nullopt;
    if (m_scaler.isShut())
        return recover();
    if (m_scaler.mode() == GradScaler::Mode::kSkips && isHopeless())
        return recover();
    return std::nullopt;
}

/// Whether updates were held back for so long that going on makes no sense.
bool TrainLoop::isHopeless() {
    const int64_t steps = m_step - m_lookedAt;
    const int64_t skips = m_scaler.skipped() - m_lookedSkips;
    m_lookedAt += steps;
    m_lookedSkips += skips;
    m_skipsOnEnd = skips == steps ? m_skipsOnEnd + skips : 0;
    const bool isNews = skips > 0 && !m_scaler.scalesLoss(); // float16 finds its scale this way
    if (isNews && m_world.isFirst())
        m_session.event(Severity::kWarning, "steps-skipped",
                        "step " + std::to_string(m_step) + ": the last " + std::to_string(steps) +
                            " steps had " + std::to_string(skips) +
                            " whose loss or gradients were not finite; their updates were left out",
                        m_step);
    return m_skipsOnEnd >= kHopelessSkips;
}

Result<std::optional<Ending>> TrainLoop::recover() {
    const int64_t held =
        m_scaler.mode() == GradScaler::Mode::kSkips ? m_skipsOnEnd : m_scaler.heldSinceOpen();
    const std::string cause = "train step " + std::to_string(m_step - held + 1) +
                              ": the loss or its gradients are not finite any more";
    const bool isCalm = m_recoveredAt < 0 || m_step - m_recoveredAt > kCalmSteps;
    m_rollbacks = isCalm ? 1 : m_rollbacks + 1;
    m_recoveredAt = m_step;
    if (m_spec.train.onNonFinite == "rollback" && m_rollbacks <= kMaxRollbacks) {
        const auto done = rollBack(cause);
        if (!done)
            return tl::unexpected(done.error());
        if (*done)
            return std::nullopt;
    }
    return Ending{ExitCode::kNonFinite,
                  cause + "; resume from an earlier checkpoint with a smaller optimizer.lr or "
                          "more schedule.warmup_steps"};
}

/// Weights, averages and optimizer as in the newest checkpoint. Steps and samples go on: the
/// samples since that checkpoint are those that broke the run. False when there is none.
Result<bool> TrainLoop::rollBack(const std::string& cause) {
    m_writer.release();
    static_cast<void>(m_writer.wait()); // sets m_newest
    const auto dir = agreeOnFirst(m_world, m_newest);
    if (!dir)
        return tl::unexpected(dir.error());
    if (dir->empty())
        return false;
    const auto state = readState(m_world, *dir);
    if (!state)
        return tl::unexpected(state.error());
    if (const auto loaded = loadTensors(*dir); !loaded)
        return tl::unexpected(loaded.error());
    restoreScaler(**state, m_scaler.skipped());
    seedFresh();
    if (m_world.isFirst())
        m_session.event(Severity::kWarning, "rolled-back",
                        cause + ": weights and optimizer are those of step " +
                            std::to_string((*state)->step) + " again, training goes on with step " +
                            std::to_string(m_step + 1) + " and the samples from position " +
                            std::to_string(m_cursor) + " on",
                        m_step);
    return true;
}

} // namespace rm
