// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/core/launch/plan.h"
#include "app/core/store/run_summary.h"

#include <string>
#include <vector>

namespace rm::cli {

class CommandContext;

/// Checks a node. Asks on the terminal for whatever only a person can decide and checks again,
/// until the check succeeds or nothing is left to ask. Later connections of `context` use the
/// answers. Without a terminal nothing is asked. With `trusted` a host whose key is another is
/// refused, known or not; only when it is empty is the person asked about a key seen for the first
/// time.
NodeCheck checkAsking(CommandContext& context, const Node& node, const std::string& trusted);

/// Checks nodes, all at once, while it shows how far they are. Ctrl+C ends that, which is said, and
/// the error is the exit code. Where a person has to decide something, they are asked one after
/// another, and their nodes checked again. The answers come in the order of `nodes`.
tl::expected<std::vector<NodeCheck>, int> checkAllAsking(CommandContext& context,
                                                         const std::vector<Node>& nodes);

/// The names of the nodes of a run, in the order of its ranks.
std::vector<std::string> nodesOf(const RunSummary& run);

/// Does the same for these nodes, except this computer. True: one of them accepts the login now for
/// which the person had to be asked. One that cannot be reached keeps the others from nothing.
bool openAsking(CommandContext& context, const std::vector<std::string>& nodes);

/// The failure in words, with the option that a script would have to pass. `node`: of the list;
/// empty: it is not in it.
std::string withAdvice(const ConnectFailure& failure, const std::string& node);

/// A row of a check as lines of text: what was found, what it leads to, what to do.
void printRow(const CheckRow& row);

/// What the nodes of a launch say of it together.
struct LaunchCheck {
    bool isReady = false; ///< none of the rows is bad
    std::vector<CheckRow> rows;
};
/// Asks for what lets Ringmaster in, where a node waits for that.
Result<LaunchCheck> checkLaunchAsking(CommandContext& context, const RunSpec& spec,
                                      const std::vector<Placement>& placements);

} // namespace rm::cli
