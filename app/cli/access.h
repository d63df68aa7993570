// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"

#include <string>
#include <vector>

namespace rm::cli {

class Session;

/// Checks a node. Asks on the terminal for whatever only a person can decide and checks again,
/// until the check succeeds or nothing is left to ask. Later connections of `session` use the
/// answers. Without a terminal nothing is asked. A host key seen for the first time is trusted when
/// it equals `trusted`; only when `trusted` is empty is the person asked about it.
NodeCheck checkAsking(Session& session, const Node& node, const std::string& trusted);

/// Does the same for these nodes, except this computer. True: all of them accept the login now, and
/// the person had to be asked for it.
bool openAsking(Session& session, const std::vector<std::string>& nodes);

/// The failure in words, with the option that a script would have to pass.
std::string withAdvice(const ConnectFailure& failure);

} // namespace rm::cli
