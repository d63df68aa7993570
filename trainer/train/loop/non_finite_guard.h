// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/loop/training.h"
#include "trainer/train/session/ending.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

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
    /// Call it after the last step, once look() has seen it: how a run ends that made all its steps
    /// and left most of them out; nullopt: not so.
    std::optional<Ending> ending();
    bool hasRecovered() const { return m_recoveredAt == m_training.step; } ///< at this boundary

private:
    /// Steps, and how many of them had an update that was held back.
    struct Span {
        int64_t steps = 0;
        int64_t skips = 0;
    };

    std::optional<Span> hopelessSpan();
    Result<std::optional<Ending>> recover(int64_t firstBad, const std::string& cause);
    void reportSkips();

    Training& m_training;
    Rollback& m_rollback;
    int64_t m_lookedAt = 0;      ///< step after which the scaler was last looked at
    int64_t m_lookedSkips = 0;   ///< updates held back until then
    Span m_all;                  ///< since training started, up to the last look
    std::deque<Span> m_recent;   ///< between looks, of the newest kWindow steps
    int64_t m_reportedSkips = 0; ///< of m_all, in the last event
    int64_t m_recoveredAt = -1;  ///< step after which it last recovered
};

} // namespace rm
