// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/database.h"
#include "app/core/store/requested_command.h"

namespace rm {

// Rows of asked_command. These throw SQLite::Exception.

std::string argumentsToJson(const std::vector<std::pair<std::string, std::string>>& args);

/// nullopt: the run has none with that id.
std::optional<RequestedCommand> requestedCommand(Database& database, int64_t run,
                                                 const std::string& id);

/// The commands of one run (its number), newest first; `openOnly`: those without an answer.
std::vector<RequestedCommand> requestedCommands(Database& database, int64_t run, bool openOnly,
                                                int limit);

} // namespace rm
