// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/requested_command.h"
#include "app/core/store/stored_checkpoint.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rm {

/// Whether a checkpoint can be had: where it was saved, or from a copy; one of an abandoned line
/// only where it was saved or from a copy on this computer.
bool isSomewhere(const StoredCheckpoint& checkpoint);

/// Until when each checkpoint that a person removed can be brought back (see kAsideDays; wall
/// clock), by path. `newestFirst`: all that was asked of the run
/// (StoreReader::requestedCommands()).
std::map<std::string, int64_t> broughtBackUntil(const std::vector<StoredCheckpoint>& checkpoints,
                                                const std::vector<RequestedCommand>& newestFirst,
                                                int64_t nowNs);

/// The checkpoint that a run goes on from by itself: the newest of the living line that lies where
/// it was saved, else the newest of which there is a copy. nullptr: there is none. `newestFirst` as
/// StoreReader::checkpoints().
const StoredCheckpoint* newestLiving(const std::vector<StoredCheckpoint>& newestFirst);

/// Whether a person may remove the checkpoint: it was set aside, or it was saved before a change of
/// settings and the run has a newer one on its living line. The node refuses one that its attempt
/// started from.
bool isRemovable(const StoredCheckpoint& checkpoint,
                 const std::vector<StoredCheckpoint>& newestFirst);

} // namespace rm
