// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/checkpoint_choice.h"

#include "app/core/node/node.h"

#include <algorithm>

namespace rm {

bool isSomewhere(const StoredCheckpoint& checkpoint) {
    if (!checkpoint.removed)
        return true;
    // Agents' copies of what a person removed go with time; those here were asked for.
    const auto counts = [&](const CheckpointCopy& copy) {
        return checkpoint.retiredBy == 0 || copy.node == kLocalNodeName;
    };
    return std::ranges::any_of(checkpoint.copies, counts);
}

const StoredCheckpoint* newestLiving(const std::vector<StoredCheckpoint>& newestFirst) {
    const StoredCheckpoint* copied = nullptr;
    for (const StoredCheckpoint& each : newestFirst) {
        if (each.retiredBy != 0)
            continue;
        if (!each.removed)
            return &each;
        if (!copied && isSomewhere(each))
            copied = &each;
    }
    return copied;
}

} // namespace rm
