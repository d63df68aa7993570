// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/checkpoint_choice.h"

#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/node/node.h"
#include "app/core/runs/requested_words.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/stored_checkpoint.h"
#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/reasons.h"

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

std::map<std::string, int64_t> broughtBackUntil(const std::vector<StoredCheckpoint>& checkpoints,
                                                const std::vector<RequestedCommand>& newestFirst,
                                                int64_t nowNs) {
    constexpr int64_t kAsideNs = int64_t{kAsideDays} * 24 * 3600 * 1'000'000'000;
    std::map<std::string, int64_t> until;
    for (const StoredCheckpoint& each : checkpoints) {
        if (!each.removed || (each.retiredBy == 0 && !isBeforeSet(each.saved.reason)))
            continue;
        const auto concerns = [&each](const RequestedCommand& command) {
            if (command.kind == kClean)
                return true; // what was aside went with the folder
            if (command.kind != kRemoveCheckpoint && command.kind != kBringBackCheckpoint)
                return false;
            return std::ranges::any_of(command.args, [&each](const auto& argument) {
                return argument.second == checkpointNameOf(each) ||
                       argument.second == std::to_string(each.saved.step);
            });
        };
        const auto last = std::ranges::find_if(newestFirst, concerns);
        if (last != newestFirst.end() && last->kind == kRemoveCheckpoint &&
            last->requestedNs + kAsideNs > nowNs)
            until[each.saved.path] = last->requestedNs + kAsideNs;
    }
    return until;
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

bool isRemovable(const StoredCheckpoint& checkpoint,
                 const std::vector<StoredCheckpoint>& newestFirst) {
    if (checkpoint.retiredBy != 0)
        return true;
    const StoredCheckpoint* newest = newestLiving(newestFirst);
    return isBeforeSet(checkpoint.saved.reason) && newest &&
           newest->saved.path != checkpoint.saved.path;
}

} // namespace rm
