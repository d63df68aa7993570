// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/loop/training.h"
#include "trainer/train/session/ending.h"

#include <optional>
#include <string>

namespace rm {

class Checkpointer;

/// Losses and gradients that are not finite. The scaler keeps them out of the weights on the
/// device, at every step and on all ranks alike; here the host learns of it and does what
/// train.on_non_finite says. All ranks call its methods together.
class NonFiniteGuard {
public:
    NonFiniteGuard(Training& training, Checkpointer& checkpointer);

    /// Training goes on from a checkpoint with so many updates held back.
    void resume(int64_t skipped);

    /// Waits for the device. How the run ends; nullopt: it goes on.
    Result<std::optional<Ending>> look();
    /// Updates are held back since some step: rolls back, or ends.
    Result<std::optional<Ending>> recover();
    bool hasRecovered() const { return m_recoveredAt == m_training.step; } ///< at this boundary

private:
    bool isHopeless();
    Result<bool> rollBack(const std::string& cause);

    Training& m_training;
    Checkpointer& m_checkpointer;
    int64_t m_lookedAt = 0;     ///< step after which the scaler was last looked at
    int64_t m_lookedSkips = 0;  ///< updates held back until then
    int64_t m_skipsOnEnd = 0;   ///< no update between them, as far as was looked
    int64_t m_recoveredAt = -1; ///< step after which it was last dealt with
    int m_rollbacks = 0;        ///< one soon after the other
};

} // namespace rm
