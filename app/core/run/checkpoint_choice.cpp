// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/checkpoint_choice.h"

namespace rm {

bool isSomewhere(const StoredCheckpoint& checkpoint) {
    return !checkpoint.removed || (checkpoint.retiredBy == 0 && !checkpoint.copies.empty());
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
