// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/lost_attempt.h"

#include "shared/io/clock.h"
#include "shared/journal/journal.h"
#include "shared/return_if_error.h"
#include "trainer/agent/run_dir/run_dir.h"

namespace rm {

Result<void> closeLostAttempt(const std::string& runDir, bool asked) {
    Result<AgentState> state = loadAgentState(runDir);
    if (!state)
        return state.error().code == ErrorCode::kNotFound ? Result<void>()
                                                          : tl::unexpected(state.error());
    if (state->ended)
        return {};
    RM_ASSIGN_OR_RETURN(auto journal, JournalWriter::open(runDir + "/journal/" +
                                                          nodeJournalName(state->nodeIndex)));
    AttemptEnded ended;
    ended.attempt = state->attempt;
    ended.outcome = asked ? Outcome::kStopped : Outcome::kFailed;
    ended.wallNs = wallNowNs();
    ended.message = asked ? "stopped on request, after its agent was gone"
                          : "the node's agent ended without a word (killed, or the node restarted)";
    journal.append(ended);
    if (const Result<void> synced = journal.sync(); !synced)
        return synced;
    state->ended = true;
    state->outcome = ended.outcome;
    return saveAgentState(runDir, *state);
}

} // namespace rm
