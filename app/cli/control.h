// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/command_kind.h"
#include "shared/wire/messages.h"

#include <string>
#include <utility>
#include <vector>

namespace rm::cli {

class CommandContext;

/// Sends a command to the ranks of a run, waits for what becomes of it and prints that, or puts it
/// into `answer`; an error is printed. Returns the exit code. `args` as of CommandRequest.
int runControl(CommandContext& context, const std::string& run, CommandKind kind,
               std::vector<std::pair<std::string, std::string>> args,
               CommandState* answer = nullptr);

} // namespace rm::cli
