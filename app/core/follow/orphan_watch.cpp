// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/follow/orphan_watch.h"

#include "shared/wire/adoption.h"

#include <algorithm>

namespace rm {

namespace {

using namespace std::chrono_literals;

constexpr auto kAdoption = std::chrono::milliseconds(kAdoptTries * kAdoptMs);
constexpr auto kBetweenStates = 2s; ///< usually one
constexpr auto kNeverBegan = 2500ms;

} // namespace

void OrphanWatch::onState(const RunState& state, Clock::time_point now) {
    const bool anyAlive =
        std::ranges::any_of(state.ranks, [](const RankState& rank) { return rank.pid != 0; });
    if (state.supervised || anyAlive) {
        *this = {};
        return;
    }
    // An agent that is silent for longer may stand still itself, and tries nothing.
    if (m_since)
        m_tried += std::min<Clock::duration>(now - m_heard, kBetweenStates);
    else
        m_since = now;
    m_heard = now;
    m_mayBeAdopted = state.attempt > 0 && !state.ended;
}

bool OrphanWatch::isLost(Clock::time_point now) const {
    if (!m_since)
        return false;
    // The agent reports nothing more of an attempt that never began there.
    return m_mayBeAdopted ? m_tried >= kAdoption : now - *m_since >= kNeverBegan;
}

} // namespace rm
