// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/requested_command.h"

#include <string>

namespace rm {

/// Kinds of what is asked of the nodes and not of the ranks, which have those of CommandKind.
inline constexpr const char* kRemoveCheckpoint = "remove-checkpoint";
inline constexpr const char* kBringBackCheckpoint = "bring-back-checkpoint";
inline constexpr const char* kClean = "clean";

// How window and terminal tell what was asked of a run.

/// "kc in the window", "a rule of the run", "somebody elsewhere"
std::string requesterWords(const Requester& by);

/// With its arguments: "set optimizer.lr=0.1"
std::string requestedWords(const RequestedCommand& command);

/// "waits for a node to accept it", "took effect after step 20", "refused: no such key"
std::string fateWords(const RequestedCommand& command);

} // namespace rm
