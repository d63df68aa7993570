// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/lost_attempt.h"

#include "shared/board/board.h"
#include "shared/exit_code.h"
#include "shared/io/clock.h"
#include "shared/journal/first_cause.h"
#include "shared/journal/segment.h"
#include "shared/return_if_error.h"
#include "trainer/agent/supervisor/applied_commands.h"
#include "trainer/agent/supervisor/log_tail.h"

namespace rm {

namespace {

/// There is nobody left to signal.
class NoRanks : public RankControl {
    void terminate(int) override {}
    void kill(int) override {}
};

/// The records with which a supervisor would have ended the attempt.
std::vector<Record> endOf(const std::string& runDir, const AgentState& state, const LostEnd& how) {
    const bool requested = how.requested;
    if (state.ranks.empty()) // it did not come to begin them
        return {AttemptEnded{
            state.attempt, requested ? Outcome::kStopped : Outcome::kFailed, -1,
            static_cast<int32_t>(requested ? ExitCode::kOk : ExitCode::kUnavailable), wallNowNs(),
            how.why.empty() ? "its agent was gone before a rank was started" : how.why}};
    RankGroup::Config config;
    config.attempt = state.attempt;
    config.firstRank = state.ranks.front().rank;
    config.localRanks = static_cast<int32_t>(state.ranks.size());
    NoRanks nobody;
    RankGroup group(config, nobody);
    const Moment now = Moment::now();
    if (requested)
        group.stop(now);
    for (int i = 0; i < config.localRanks; ++i) {
        const AgentState::Rank& rank = state.ranks[i];
        if (rank.exited)
            group.onEarlierExit(i, exitOf(rank), now);
        else
            group.onChildExit(i, lastWordOf(runDir, rank.rank, state.attempt),
                              logTail(runDir + "/log/" + rankLogName(rank.rank)), now);
    }
    return group.takeRecords();
}

} // namespace

ChildStatus exitOf(const AgentState::Rank& exited) {
    return {exited.signal ? 0 : exited.exitCode, exited.signal};
}

ChildStatus lastWordOf(const std::string& runDir, int rank, int attempt) {
    const Result<Board> board = Board::view(runDir + "/board/" + rankName(rank));
    const auto status = board ? std::optional(board->status()) : std::nullopt;
    const bool isHis = status && status->rank == rank && status->attempt == attempt;
    return isHis && status->lastWord ? ChildStatus{*status->lastWord}
                                     : ChildStatus{.isKnown = false};
}

Result<JournalWriter> beginNodeJournal(const std::string& runDir, int64_t nodeIndex,
                                       int64_t attempt) {
    return JournalWriter::begin(runDir + "/journal", nodeName(static_cast<int>(nodeIndex)),
                                static_cast<int>(attempt));
}

Result<void> closeLostAttempt(const std::string& runDir, const LostEnd& how) {
    Result<AgentState> state = loadAgentState(runDir);
    if (!state)
        return state.error().code == ErrorCode::kNotFound ? Result<void>()
                                                          : tl::unexpected(state.error());
    if (state->ended)
        return {};
    RM_ASSIGN_OR_RETURN(auto journal, beginNodeJournal(runDir, state->nodeIndex, state->attempt));
    std::vector<Record> records = endOf(runDir, *state, how);
    auto& end = std::get<AttemptEnded>(records.back());
    end.resumes = how.resumes;
    if (!how.why.empty())
        end.message = how.why;
    // They obeyed a person first.
    if (const auto obeyed = AppliedCommands(runDir).endingSince(state->appliedBefore);
        obeyed && end.outcome == Outcome::kFailed)
        end = endedOnRequest(end, *obeyed, howObeyed(*obeyed));
    for (const Record& record : records)
        journal.append(record);
    RM_RETURN_IF_ERROR(journal.sync());
    if (how.resumes)
        return {};
    state->ended = true;
    state->outcome = end.outcome;
    return saveAgentState(runDir, *state);
}

} // namespace rm
