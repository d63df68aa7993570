// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/messages.h"

#include <chrono>
#include <optional>

namespace rm {

/// Judges from the states that come over one link whether an attempt is lost on a node: neither
/// ranks nor a supervisor live there, and the agent's tries to start another one had no effect.
class OrphanWatch {
public:
    using Clock = std::chrono::steady_clock;

    void onState(const RunState& state, Clock::time_point now);
    bool isLost(Clock::time_point now) const;

private:
    std::optional<Clock::time_point> m_since; ///< nullopt: something lives there
    Clock::time_point m_heard;
    Clock::duration m_tried{}; ///< how long adoption was tried, as far as was heard
    bool m_mayBeAdopted = false;
};

} // namespace rm
