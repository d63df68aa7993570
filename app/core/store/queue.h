// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <string>
#include <vector>

namespace rm {

/// A node that a run of the queue may train on. `ranks`: as Placement's.
struct QueuedNode {
    std::string node;
    int ranks = 0;
    bool operator==(const QueuedNode&) const = default;
};

/// What a run of the queue waits for.
struct QueuedPlace {
    std::vector<QueuedNode> nodes;
    int wanted = 0; ///< as many of the nodes as it takes, the first that are free; 0: all of them
    bool launchesTooLarge = false; ///< also where a node seems to have too little memory
    bool operator==(const QueuedPlace&) const = default;
};

/// A run that waits: one that was never started (RunStateKind::kWaiting), or one that has ended and
/// goes on from its newest checkpoint.
struct QueueEntry {
    QString run;
    QueuedPlace place;
    std::string why = {}; ///< it could not be started the last time; empty: it was not tried
    bool operator==(const QueueEntry&) const = default;
};

/// Runs that differ in some settings and were put into the queue together.
struct StoredSweep {
    QString id;
    QueuedPlace place;
    /// Successive halving: of the runs that come to a step of their train.pause_at, the best
    /// 1/eta go on. 0: all of them train to their end.
    int eta = 0;
    bool operator==(const StoredSweep&) const = default;
};

/// What becomes of a run that has paused at a step where its sweep compares.
struct SweepVerdict {
    QString run;
    int64_t rung = 0; ///< the step
    bool goesOn = false;
    QueuedPlace place = {}; ///< where it goes on
    QString message = {};   ///< why it does not
    bool operator==(const SweepVerdict&) const = default;
};

} // namespace rm
