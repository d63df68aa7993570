// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/live_state.h"

#include <algorithm>

namespace rm {

bool livesOn(const RunState& state) {
    return !state.ended &&
           std::ranges::any_of(state.ranks, [](const RankState& rank) { return rank.pid != 0; });
}

int64_t unreachableSinceNs(const LiveState::NodeLink& link) {
    return link.heardNs > 0 ? link.heardNs : link.lostSinceNs;
}

} // namespace rm
