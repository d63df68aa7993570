// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/requests/queue.h"
#include "app/core/launch/plan.h"

#include <QString>

#include <string>
#include <vector>

namespace rm::cli {

class CommandContext;

/// What `run --queue`, `sweep` and `resume --queue` put into the queue.
struct Queueing {
    std::vector<QString> runs;
    QString sweep; ///< empty: none
    bool wait = false;
};

/// Where they may train: on `take` of the nodes, 0 being all. kInvalid: more than there are.
Result<QueuedPlace> placeInQueue(const std::vector<Placement>& nodes, int take, bool anyway);

/// After its runs were put into the queue: starts those whose nodes are free and says what the
/// others wait for; with `wait` it works on until all have ended. Returns the exit code.
int startQueued(CommandContext& context, const Queueing& queueing);

/// Starts what waits as nodes become free: until `runs` have ended, or, without any, until nothing
/// waits and no sweep has to compare its runs any more. Ctrl+C ends that alone. Returns the exit
/// code.
int workQueue(CommandContext& context, const std::vector<QString>& runs = {});

} // namespace rm::cli
