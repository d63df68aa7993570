// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/database.h"
#include "app/core/store/run_summary.h"
#include "shared/journal/records.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rm {

/// How the message of a run begins whose agents begin its next attempt without being asked.
inline constexpr const char* kRestartsMessage = "restarts";
/// How the message of a run begins whose ranks a scheduler has yet to start.
inline constexpr const char* kQueuedMessage = "queued";

/// How an attempt ended on one node, with what is known of the rank that failed first there.
struct NodeEnd {
    std::string nodeName;
    AttemptEnded end;
    std::string rankMessage; ///< "killed by SIGKILL"; empty: unknown
    std::string rankWords;   ///< the rank's own words of why it exited; empty: none
    int64_t rankStep = 0;    ///< 0: unknown
    int64_t rankExitedNs = 0;
};

/// Combines the ends of an attempt on all its nodes, of which there is at least one. The failure
/// that it names is the first that is not a mere consequence (a lost peer). A node that only lost
/// its peers to an end elsewhere did not fail. Where a person ended the run after its ranks had
/// failed, the message says both. The first is that of node 0, which knows whether the run goes on.
AttemptEnded combined(std::span<const NodeEnd> ends);

/// Why a rank exited, from the last lines of its log: the text after the last "error: " at the
/// start of a line. Empty: there is none.
std::string lastWords(const std::string& logTail);

/// nullopt while a node of the attempt has not ended.
std::optional<AttemptEnded> attemptEnd(Database& database, int64_t run, int attempt);

/// How the attempt ended by the nodes that have told it. nullopt: none has, or it failed and rank
/// 0's has not, or another attempt is expected.
std::optional<AttemptEnded> presumedEnd(Database& database, int64_t run, int attempt);

RunStateKind stateOf(Outcome outcome);

} // namespace rm
