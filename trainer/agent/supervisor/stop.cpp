// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/stop.h"

#include "shared/checkpoint/file_name.h"
#include "shared/return_if_error.h"
#include "trainer/agent/posix/walk.h"
#include "trainer/agent/probe/home_id.h"
#include "trainer/agent/run_dir/named_checkpoints.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/supervisor/lost_attempt.h"
#include "trainer/agent/supervisor/submit.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace rm {

namespace {

using nlohmann::json;
using Ranks = std::vector<AgentState::Rank>;

// Kills the group while its leader still holds the pid: afterwards the group's id may belong to
// other processes.
void killGroup(const ProcessId& process) {
    if (isAlive(process))
        ::kill(static_cast<pid_t>(-process.pid), SIGKILL);
}

bool endSupervisor(const ProcessId& supervisor, bool kill, int64_t timeoutMs) {
    const Descriptor process = openProcess(supervisor);
    sendSignal(process, kill ? SIGQUIT : SIGTERM);
    if (waitGone(process, timeoutMs))
        return true;
    sendSignal(process, SIGKILL);
    return false;
}

// False: a rank survived even SIGKILL, as it hangs in the kernel.
bool endRanks(const Ranks& ranks, bool kill, int64_t timeoutMs) {
    for (const AgentState::Rank& rank : ranks)
        sendSignal(openProcess(rank.process), kill ? SIGKILL : SIGTERM);
    bool areGone = true;
    for (const AgentState::Rank& rank : ranks) {
        const Descriptor process = openProcess(rank.process);
        if (!waitGone(process, timeoutMs))
            killGroup(rank.process);
        areGone = waitGone(process, timeoutMs) && areGone;
    }
    return areGone;
}

// Writes the end of the attempt if its supervisor could not (killed, or signalled too early).
Result<void> closeIfLost(const std::string& runDir) {
    const Result<AgentState> state = loadAgentState(runDir);
    if (!state || state->ended)
        return {};
    const Result<RunLock> lock = RunLock::take(runDir);
    return lock ? closeLostAttempt(runDir, {.requested = true}) : tl::unexpected(lock.error());
}

/// Whether the agent of that part, which is or was on this machine, has told of the run's end.
bool hasReportedEnd(const AgentState& state) {
    return state.ended && !state.isElsewhere() && state.boot == bootId();
}

/// Such an agent may stay to copy the last checkpoint, for which nobody waits.
void endLastCopy(const AgentState& state) {
    if (hasReportedEnd(state))
        sendSignal(openProcess(state.supervisor), SIGURG);
}

/// Folders::partDirs(); none: there is nothing of the run, or the rest of a removal or of a start
/// that failed.
Result<std::vector<std::string>> partsHere(const Folders& folders, const std::string& runId) {
    auto parts = folders.partDirs(runId);
    if (!parts && parts.error().code == ErrorCode::kNotFound)
        return std::vector<std::string>();
    return parts;
}

/// The processes that were ended on this machine.
struct Ended {
    bool any = false;
    int64_t supervisor = 0; ///< pid of the last
    std::vector<int32_t> ranks;
};

Result<void> stopPart(const std::string& runDir, bool kill, const StopPatience& patience,
                      Ended& ended) {
    const Result<AgentState> state = loadAgentState(runDir);
    if (!state)
        return state.error().code == ErrorCode::kNotFound ? Result<void>()
                                                          : tl::unexpected(state.error());
    if (state->isElsewhere())
        return {};
    const bool isHere = state->boot == bootId();
    const Ranks before = state->living();
    const bool wasHeld = isHere && RunLock::isHeld(runDir);
    const bool hasObeyed =
        !wasHeld || endSupervisor(state->supervisor, kill, patience.supervisorMs);
    const Ranks orphans = state->living();
    if (!endRanks(orphans, kill || !hasObeyed, patience.ranksMs))
        return fail(ErrorCode::kUnavailable, "a rank hangs in the kernel and cannot be ended");
    if (!RunLock::isHeld(runDir))
        RM_RETURN_IF_ERROR(closeIfLost(runDir));
    ended.any = ended.any || wasHeld || !orphans.empty();
    ended.supervisor = state->supervisor.pid;
    for (const AgentState::Rank& rank : before)
        ended.ranks.push_back(rank.rank);
    return {};
}

} // namespace

Result<std::string> stopRun(const Folders& folders, const std::string& runId, bool kill,
                            const StopPatience& patience) {
    RM_ASSIGN_OR_RETURN(const auto parts, folders.partDirs(runId));
    Ended ended;
    const Result<bool> job = endJob(*folders.runDir(runId), kill);
    if (!job)
        return failAs("stop " + runId, job.error());
    ended.any = *job;
    for (const std::string& part : parts)
        if (const Result<void> stopped = stopPart(part, kill, patience, ended); !stopped)
            return failAs("stop " + runId, stopped.error());
    return json{{"state", ended.any ? "stopped" : "not-running"},
                {"supervisor", ended.supervisor},
                {"ranks", ended.ranks}}
               .dump() +
           "\n";
}

Result<void> endEarlierAttempts(const Folders& folders, const std::string& runId, int64_t attempt) {
    RM_ASSIGN_OR_RETURN(const auto parts, partsHere(folders, runId));
    if (parts.empty())
        return {}; // nothing ran here
    RM_RETURN_IF_ERROR(endJob(*folders.runDir(runId), true));
    std::error_code ignored;
    std::filesystem::remove(*folders.runDir(runId) + "/job.json", ignored);
    Ended ended;
    for (const std::string& part : parts) {
        const Result<AgentState> state = loadAgentState(part);
        if (!state || state->attempt >= attempt)
            continue;
        endLastCopy(*state);
        if (isAliveIn(part, *state))
            RM_RETURN_IF_ERROR(
                stopPart(part, true, {.supervisorMs = 5000, .ranksMs = 5000}, ended));
    }
    return {};
}

Result<std::string> stateOfRun(const Folders& folders, const std::string& runId) {
    RM_ASSIGN_OR_RETURN(const auto parts, folders.partDirs(runId));
    int64_t newest = 0;
    RM_ASSIGN_OR_RETURN(bool isAlive, isJobAlive(*folders.runDir(runId)));
    for (const std::string& part : parts) {
        const Result<AgentState> state = loadAgentState(part);
        if (!state || state->isElsewhere())
            continue;
        newest = std::max<int64_t>(newest, state->attempt);
        isAlive = isAlive || isAliveIn(part, *state);
    }
    return json{{"attempt", newest}, {"alive", isAlive}}.dump() + "\n";
}

namespace {

/// A folder of a run and what lies in it.
struct Holding {
    std::string folder;
    int64_t bytes = 0;
    int64_t checkpoints = 0; ///< folders with a manifest
};

Result<void> addTo(Holding& holding, const std::string& folder) {
    const auto count = [&](const std::string& path, const struct stat& info) -> Result<bool> {
        if (S_ISREG(info.st_mode))
            holding.bytes += info.st_size;
        holding.checkpoints += std::filesystem::path(path).filename() == kManifestName ? 1 : 0;
        return true;
    };
    return walk(folder, count);
}

/// The folders of a run on this machine, and what they hold.
struct RunHolding {
    Holding own;
    std::vector<NamedCheckpoints> named;
    std::vector<Holding> inNamed; ///< one for each of these
};

Result<RunHolding> holdingOf(const Folders& folders, const std::string& runId) {
    RunHolding all;
    RM_RETURN_IF_ERROR(addTo(all.own, *folders.runDir(runId)));
    all.named = namedCheckpoints(folders, runId);
    for (const NamedCheckpoints& named : all.named) {
        all.inNamed.push_back({named.folder});
        for (const std::string& path : named.paths)
            RM_RETURN_IF_ERROR(addTo(all.inNamed.back(), path));
    }
    return all;
}

/// kUnavailable: ranks of the part run, here or perhaps elsewhere.
Result<void> checkNoRankRuns(const std::string& part) {
    const Result<AgentState> state = loadAgentState(part);
    if (!state && state.error().code != ErrorCode::kNotFound)
        return tl::unexpected(state.error());
    if (state && !state->living().empty())
        return fail(ErrorCode::kUnavailable, "its ranks still run; stop it first");
    if (state && state->isElsewhere() && !state->ended)
        return fail(ErrorCode::kUnavailable,
                    part + " is of another machine that shares this home, where it may run");
    return {};
}

/// An agent whose ranks have ended still writes that down: a removal of the run right after its end
/// waits a moment for that.
void awaitLastWords(const std::string& part) {
    constexpr int64_t kLongMs = 5000;
    const Result<AgentState> state = loadAgentState(part);
    if (!state || !hasReportedEnd(*state) || !RunLock::isHeld(part))
        return;
    endLastCopy(*state);
    waitGone(openProcess(state->supervisor), kLongMs);
}

/// partsHere() of a run that no job of Slurm runs.
Result<std::vector<std::string>> partsWithoutJob(const Folders& folders, const std::string& runId) {
    RM_ASSIGN_OR_RETURN(auto parts, partsHere(folders, runId));
    if (parts.empty())
        return parts;
    RM_ASSIGN_OR_RETURN(const bool hasJob, isJobAlive(*folders.runDir(runId)));
    if (hasJob)
        return fail(ErrorCode::kUnavailable, "its job of Slurm waits or runs; stop it first");
    return parts;
}

/// Locks the run's parts, so that none begins to run here. kUnavailable when one does.
Result<std::vector<RunLock>> lockAll(const Folders& folders, const std::string& runId) {
    RM_ASSIGN_OR_RETURN(const auto parts, partsWithoutJob(folders, runId));
    std::vector<RunLock> locks;
    for (const std::string& part : parts) {
        awaitLastWords(part);
        RM_ASSIGN_OR_RETURN(auto lock, RunLock::take(part));
        locks.push_back(std::move(lock));
        RM_RETURN_IF_ERROR(checkNoRankRuns(part));
    }
    return locks;
}

/// Counts what goes, and lists what lies in folders that the spec names.
std::string answer(const RunHolding& run, const Folders& folders) {
    Holding goes = run.own;
    json named = json::array();
    for (size_t at = 0; at < run.named.size(); ++at) {
        const Holding& there = run.inNamed[at];
        const std::string& whyStays = run.named[at].whyStays;
        goes.bytes += whyStays.empty() ? there.bytes : 0;
        goes.checkpoints += whyStays.empty() ? there.checkpoints : 0;
        if (there.checkpoints > 0)
            named.push_back({{"folder", there.folder},
                             {"bytes", there.bytes},
                             {"checkpoints", there.checkpoints},
                             {"stays_as", whyStays}});
    }
    const json what = {{"folder", goes.folder},
                       {"bytes", goes.bytes},
                       {"checkpoints", goes.checkpoints},
                       {"named", named},
                       {"state_id", stateId(folders.stateDir)}};
    return what.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace

Result<std::string> removeRun(const Folders& folders, const std::string& runId, bool preview) {
    const std::string attempt = "remove " + runId;
    const Result<std::string> runDir = folders.runDir(runId);
    if (!runDir)
        return runDir;
    std::error_code error;
    // As ranks name their checkpoints, whatever links lead here.
    const std::string named = std::filesystem::weakly_canonical(*runDir, error);
    // What a removal that was cut off has left.
    const std::filesystem::path aside =
        std::filesystem::path(*runDir).parent_path() / (".removed-" + runId);
    if (!preview)
        std::filesystem::remove_all(aside, error);
    if (const auto parts = partsHere(folders, runId); !parts)
        return failAs(attempt, parts.error());
    if (!std::filesystem::exists(*runDir, error))
        return answer(RunHolding{{named}, {}, {}}, folders);
    if (!folders.isRun(runId))
        return fail(ErrorCode::kInvalid,
                    attempt + ": " + *runDir +
                        " is a link, or has nothing of a run: Ringmaster did not put it there, and "
                        "leaves it");
    // A preview takes no lock: others may look at the same folder, which nodes share.
    if (const auto over = checkIsOver(folders, runId, preview); !over)
        return failAs(attempt, over.error());
    const auto locks = preview ? Result<std::vector<RunLock>>() : lockAll(folders, runId);
    if (!locks)
        return failAs(attempt, locks.error());
    Result<RunHolding> holding = holdingOf(folders, runId);
    if (!holding)
        return failAs(attempt, holding.error());
    // First those that only the run's folder tells of: a cut-off removal is taken up again.
    for (const NamedCheckpoints& each : holding->named)
        if (const auto gone = preview ? Result<void>() : removeNamedCheckpoints(each); !gone)
            return failAs(attempt, gone.error());
    // Out of the way first: a start of the run meanwhile begins with a folder of its own.
    if (!preview)
        std::filesystem::rename(*runDir, aside, error);
    if (!preview && !error)
        std::filesystem::remove_all(aside, error);
    if (error)
        return failErrno("remove " + *runDir, error.value());
    holding->own.folder = named;
    return answer(*holding, folders);
}

Result<void> checkIsOver(const Folders& folders, const std::string& runId, bool preview) {
    RM_ASSIGN_OR_RETURN(const auto parts, partsWithoutJob(folders, runId));
    for (const std::string& part : parts) {
        const Result<AgentState> state = loadAgentState(part);
        const bool willEnd = preview && state && hasReportedEnd(*state);
        if (!preview)
            awaitLastWords(part);
        if (!willEnd && RunLock::isHeld(part))
            return fail(
                ErrorCode::kUnavailable,
                "lock " + part +
                    "/agent.pid: an agent supervises this run; pause, stop or kill it first");
        RM_RETURN_IF_ERROR(checkNoRankRuns(part));
    }
    return {};
}

} // namespace rm
