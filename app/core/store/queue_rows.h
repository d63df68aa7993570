// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/database.h"
#include "app/core/store/queue.h"

#include <optional>
#include <vector>

namespace rm {

// The rows of `queue` and `sweep`. All of these throw SQLite::Exception.

/// The runs that wait, in their order. One that is being started has left its row there until its
/// attempt begins, and waits no more.
std::vector<int64_t> queuedRuns(Database& database);
std::vector<QueueEntry> queueEntries(Database& database);
std::optional<StoredSweep> sweepCalled(Database& database, const QString& id);

/// Behind all others.
void addToQueue(Database& database, int64_t run, const QueuedPlace& place);
/// False: it was not in the queue.
bool takeFromQueue(Database& database, int64_t run);
/// `place` counts from 0; beyond the last it is the last.
void moveInQueue(Database& database, int64_t run, int place);
void addSweep(Database& database, const StoredSweep& sweep, int64_t wallNs);

} // namespace rm
