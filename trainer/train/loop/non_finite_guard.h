// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/loop/training.h"
#include "trainer/train/session/ending.h"

#include <optional>

namespace rm {

class Rollback;

/// Handles losses and gradients that are not finite. The scaler skips their updates on the device,
/// at every step and on all ranks alike; this class finds out on the host and does what
/// train.on_non_finite says. All ranks call its methods together.
class NonFiniteGuard {
public:
    NonFiniteGuard(Training& training, Rollback& rollback);

    /// Call it when training starts from a checkpoint with this number of skipped updates.
    void resume(int64_t skipped);

    /// Waits for the device. Returns how the run ends; nullopt: it goes on.
    Result<std::optional<Ending>> look();
    /// Call it when updates are held back since some step: rolls back, or ends the run.
    Result<std::optional<Ending>> recover();
    bool hasRecovered() const { return m_recoveredAt == m_training.step; } ///< at this boundary

private:
    bool isHopeless();

    Training& m_training;
    Rollback& m_rollback;
    int64_t m_lookedAt = 0;     ///< step after which the scaler was last looked at
    int64_t m_lookedSkips = 0;  ///< updates held back until then
    int64_t m_skipsOnEnd = 0;   ///< consecutive skipped updates, up to the last look
    int64_t m_recoveredAt = -1; ///< step after which it last recovered
};

} // namespace rm
