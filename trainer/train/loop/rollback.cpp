// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/rollback.h"

#include "shared/return_if_error.h"
#include "trainer/train/loop/checkpointer.h"

#include <algorithm>
#include <cstdio>

namespace rm {
namespace {

constexpr int kMost = 3; ///< rollbacks, each within kCalmSteps after the one before
constexpr int64_t kCalmSteps = 1000;

} // namespace

Rollback::Rollback(Training& training, Checkpointer& checkpointer)
    : m_training(training)
    , m_checkpointer(checkpointer) {}

bool Rollback::isUseless() {
    const int64_t step = m_training.step;
    const bool isCalm = m_lastAt < 0 || step - m_lastAt > kCalmSteps;
    m_count = isCalm ? 1 : m_count + 1;
    m_lastAt = step;
    return m_count > kMost;
}

Result<Rollback::Outcome> Rollback::to(int64_t firstBad, const std::string& cause) {
    if (isUseless())
        return Outcome::kUseless;
    m_bad.emplace_back(firstBad, m_training.step);
    RM_ASSIGN_OR_RETURN(const auto dir, m_checkpointer.newest([this](int64_t step) {
        return std::ranges::none_of(
            m_bad, [step](const auto& bad) { return bad.first <= step && step <= bad.second; });
    }));
    if (dir.empty())
        return Outcome::kNoCheckpoint;
    RM_ASSIGN_OR_RETURN(const auto state, readTrainState(m_training.world, dir));
    RM_RETURN_IF_ERROR(m_checkpointer.load(dir));
    m_training.restoreScaler(state, m_training.scaler.skipped());
    m_training.seedFresh();
    if (m_then)
        m_then(state);
    m_training.event(Severity::kWarning, "rolled-back",
                     cause + ": weights and optimizer are those of step " +
                         std::to_string(state.step) + " again, training goes on with step " +
                         std::to_string(m_training.step + 1) + " and the samples from position " +
                         std::to_string(m_training.cursor) + " on" + lowerLr());
    return Outcome::kDone;
}

/// Lowers the learning rate. Returns the change in words.
std::string Rollback::lowerLr() {
    const double factor = m_training.spec.train.rollbackLrFactor;
    if (factor == 1)
        return {};
    const double before = m_training.live.optimizer.lr;
    const double after = m_training.scaledLr(factor);
    if (after == before)
        return "; lr stays at schedule.min_lr";
    m_training.set({{"optimizer.lr", after}});
    char text[64];
    std::snprintf(text, sizeof text, "; lr %g -> %g", before, after);
    return text;
}

} // namespace rm
