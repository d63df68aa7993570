// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"

#include <string>
#include <vector>

namespace rm::cli {

class Session;

/// Checks a node and asks on the terminal what only a person can decide, until there is an answer
/// that no person can change. What was given serves every later connection of `session`. Without
/// a terminal nothing is asked. A key seen for the first time is trusted unasked when it is
/// exactly `trusted`, and asked about only when that is empty.
NodeCheck checkAsking(Session& session, const Node& node, const std::string& trusted);

/// Checks these nodes so, this computer aside. True: each of them lets us in now, and something
/// had to be asked for that.
bool openAsking(Session& session, const std::vector<std::string>& nodes);

/// The failure in words, with what a script would have to pass.
std::string withAdvice(const ConnectFailure& failure);

} // namespace rm::cli
