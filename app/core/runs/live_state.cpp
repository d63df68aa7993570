// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/live_state.h"

namespace rm {

int64_t unreachableSinceNs(const LiveState::NodeLink& link) {
    return link.heardNs > 0 ? link.heardNs : link.lostSinceNs;
}

} // namespace rm
