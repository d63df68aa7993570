// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/journal.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/supervisor/rank_group.h"

#include <string>

namespace rm {

/// How a rank ended whose exit an agent has noted.
ChildStatus exitOf(const AgentState::Rank& exited);

/// How a rank ended that nobody watched: as it said itself on its board, else not known.
ChildStatus lastWordOf(const std::string& runDir, int rank, int attempt);

/// A new segment of the node's journal.
Result<JournalWriter> beginNodeJournal(const std::string& runDir, int64_t nodeIndex,
                                       int64_t attempt);

/// Facts about the end of an attempt beside how its ranks ended.
struct LostEnd {
    bool requested = false; ///< a person ended it: kStopped, else by the last words of its ranks
    bool resumes = false;   ///< another attempt follows by itself, which is why it stays open here
    std::string why = {};   ///< for people; empty: what the ranks' ends say
};

/// If the last attempt's supervisor died before it recorded the end, writes the end in its place.
/// The caller holds the RunLock and has made sure that all ranks are gone. Does nothing when the
/// end is recorded or no attempt was started.
Result<void> closeLostAttempt(const std::string& runDir, const LostEnd& how = {});

} // namespace rm
