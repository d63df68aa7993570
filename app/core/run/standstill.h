// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/run/engine.h"

#include <string>

namespace rm {

/// A command that is under way for longer is explained to the person who waits.
inline constexpr int64_t kCommandPatienceNs = 3'000'000'000;

/// Whom the ranks of a run wait for, in words: "rank 1 on node-b is behind: in forward after step
/// 47 for 12 s", or the node that cannot be reached. Empty: nothing is known.
std::string whoIsBehind(const LiveState& live);

/// Why the command in flight has no effect yet, and, where it is another, why that of `asked` has
/// none. Empty: there is none, or it is younger than kCommandPatienceNs. `nowNs`: of the clock that
/// never jumps.
std::string commandDelay(const LiveState& live, int64_t nowNs,
                         std::optional<CommandKind> asked = {});

/// No time left can be told from the pace of a run that is held, that a node of it cannot be
/// reached, or whose ranks are in one phase for much longer than a step takes.
bool standsStill(const LiveState& live, double stepMs);

} // namespace rm
