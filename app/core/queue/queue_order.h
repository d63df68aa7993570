// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/plan.h"
#include "app/core/store/queue.h"
#include "app/core/store/store_reader.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rm {

/// What trains or is started on each node, in words. A node that is not here is free.
using BusyNodes = std::map<std::string, std::string>;

/// How many of the nodes a run takes.
size_t wantedNodes(const QueuedPlace& place);

/// The nodes of live runs, each with one of them. Of one that cannot be reached it is said what to
/// do if it is gone.
BusyNodes busyNodes(const std::vector<RunSummary>& runs);
/// "gpt-1 trains on b"
std::string trainsOn(const QString& run, const std::string& node);

/// A run of the queue that can be started now, on these of its nodes.
struct QueueStart {
    QueueEntry entry;
    std::vector<QueuedNode> nodes;
    bool operator==(const QueueStart&) const = default;
};

/// What can be started now, in the queue's order. A free node that an earlier run waits for is kept
/// for it, so that no run is overtaken for ever by those that want less. `isCluster`: a node whose
/// scheduler has a queue of its own, which is never busy.
std::vector<QueueStart> startable(const std::vector<QueueEntry>& queue, const BusyNodes& busy,
                                  const std::function<bool(const std::string&)>& isCluster);

/// What it waits for, without its place: "for a and b; gpt-1 trains on b", and why it could not be
/// started the last time.
std::string waitReason(const BusyNodes& busy, const QueueEntry& entry);
/// What the run waits for: "number 2 of 3 in the queue, for a and b; gpt-1 trains on b". `queue`:
/// all that wait; empty if the run is none of them.
std::string waitWords(const std::vector<QueueEntry>& queue, const BusyNodes& busy,
                      const QString& run);
/// The same of what is stored.
std::string waitWords(StoreReader& reader, const RunSummary& run);

/// "1 of a, b and c", "a and b".
std::string placeWords(const QueuedPlace& place);

std::vector<Placement> placementsOf(const std::vector<QueuedNode>& nodes);
/// A run takes `take` of the nodes, 0 being all.
QueuedPlace queuedPlace(const std::vector<Placement>& nodes, int take, bool launchesTooLarge);

} // namespace rm
