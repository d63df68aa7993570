// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/living_runs.h"

#include "shared/board/board.h"
#include "shared/journal/segment.h"
#include "trainer/agent/run_dir/run_dir.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace rm {

namespace {

/// The rank's step; 0: it does not train yet; -1: its board cannot be read.
int64_t stepOf(const std::string& part, int attempt, int rank) {
    const Result<Board> board = Board::view(part + "/board/" + rankName(rank));
    if (!board)
        return -1;
    const Board::Status status = board->status();
    const bool trains = status.attempt == attempt && status.phase != Phase::kStarting &&
                        status.phase != Phase::kRendezvous;
    return trains ? status.step : 0;
}

/// When the attempt began, as its plan is written then.
int64_t begunNs(const std::string& part) {
    struct stat info = {};
    return ::stat((part + "/plan.toml").c_str(), &info) == 0
               ? info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec
               : 0;
}

void addPart(RunReport& run, const std::string& part) {
    const Result<AgentState> state = loadAgentState(part);
    if (!state || !isAliveIn(part, *state))
        return;
    if (const Result<NodePlan> plan = loadPlan(part)) {
        run.runName = plan->runName;
        run.startedBy = plan->startedBy;
    }
    run.attempt = std::max(run.attempt, static_cast<int>(state->attempt));
    run.sinceNs = std::max(run.sinceNs, begunNs(part));
    const auto living = state->living();
    for (const AgentState::Rank& rank : living)
        run.step = std::max(run.step, stepOf(part, state->attempt, rank.rank));
    run.ranks += static_cast<int>(living.size());
    run.isSupervised = run.isSupervised || RunLock::isHeld(part);
}

/// visit(run id, folder of a part) for all parts of all runs.
template <class Visit>
void eachPart(const Folders& folders, Visit visit) {
    std::error_code error;
    std::filesystem::directory_iterator at(folders.stateDir + "/runs", error), end;
    for (; !error && at != end; at.increment(error)) {
        const std::string runId = at->path().filename().string();
        if (const auto parts = folders.partDirs(runId))
            for (const std::string& part : *parts)
                visit(runId, part);
    }
}

} // namespace

std::vector<RunReport> livingRuns(const Folders& folders) {
    std::vector<RunReport> found;
    eachPart(folders, [&found](const std::string& runId, const std::string& part) {
        if (found.empty() || found.back().runId != runId)
            found.emplace_back().runId = runId;
        addPart(found.back(), part);
    });
    std::erase_if(found, [](const RunReport& run) { return run.ranks == 0 && !run.isSupervised; });
    std::ranges::sort(found, {}, &RunReport::runId);
    return found;
}

std::vector<LivingRank> livingRanks(const Folders& folders) {
    std::vector<LivingRank> found;
    eachPart(folders, [&found](const std::string& runId, const std::string& part) {
        const Result<AgentState> state = loadAgentState(part);
        if (!state)
            return;
        const auto living = state->living();
        const Result<NodePlan> plan = living.empty() ? NodePlan() : loadPlan(part);
        for (const AgentState::Rank& rank : living)
            found.push_back({rank.process.pid, runId, plan ? plan->runName : "", rank.rank});
    });
    return found;
}

} // namespace rm
