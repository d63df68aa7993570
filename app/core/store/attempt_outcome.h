// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/database.h"
#include "shared/journal/records.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rm {

/// How an attempt ended on one node, with what is known of the rank that failed first there.
struct NodeEnd {
    std::string nodeName;
    AttemptEnded end;
    std::string rankMessage; ///< "killed by SIGKILL"; empty: unknown
    std::string rankWords;   ///< its own, of why it ended by itself; empty: it left none
    int64_t rankStep = 0;    ///< 0: unknown
    int64_t rankExitedNs = 0;
};

/// The end of a whole attempt from those of all its nodes; at least one. The failure that is named
/// is the first one that is not another's consequence (a lost peer); a node that only lost its
/// peers to a stop or kill elsewhere did not fail.
AttemptEnded combined(std::span<const NodeEnd> ends);

/// What a rank that ended by itself says of why, of the last lines that it wrote: behind the last
/// "error: " at the start of one. Empty: nothing.
std::string lastWords(const std::string& logTail);

/// nullopt while a node of the attempt has not ended.
std::optional<AttemptEnded> attemptEnd(Database& database, int64_t run, int attempt);

} // namespace rm
