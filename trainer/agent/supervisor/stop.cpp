// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/stop.h"

#include "shared/checkpoint/file_name.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/supervisor/lost_attempt.h"

#include <nlohmann/json.hpp>

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
    return lock ? closeLostAttempt(runDir, true) : tl::unexpected(lock.error());
}

std::string answer(const char* state, const AgentState& run, const Ranks& ranks) {
    json ended = json::array();
    for (const AgentState::Rank& rank : ranks)
        ended.push_back(rank.rank);
    return json{{"state", state}, {"supervisor", run.supervisor.pid}, {"ranks", ended}}.dump() +
           "\n";
}

} // namespace

Result<std::string> stopRun(const Folders& folders, const std::string& runId, bool kill,
                            const StopPatience& patience) {
    const Result<std::string> runDir = folders.existingRunDir(runId);
    if (!runDir)
        return runDir;
    const Result<AgentState> state = loadAgentState(*runDir);
    if (!state && state.error().code == ErrorCode::kNotFound)
        return answer("not-running", {}, {});
    if (!state)
        return failAs("stop " + runId, state.error());
    const Ranks before = state->living();
    const bool wasHeld = RunLock::isHeld(*runDir);
    const bool hasObeyed =
        !wasHeld || endSupervisor(state->supervisor, kill, patience.supervisorMs);
    const Ranks orphans = state->living();
    if (!endRanks(orphans, kill || !hasObeyed, patience.ranksMs))
        return fail(ErrorCode::kUnavailable,
                    "stop " + runId + ": a rank hangs in the kernel and cannot be ended");
    if (const Result<void> closed = closeIfLost(*runDir); !closed)
        return failAs("stop " + runId, closed.error());
    return answer(wasHeld || !orphans.empty() ? "stopped" : "not-running", *state, before);
}

namespace {

/// The run directory and what lies in it.
struct Holding {
    std::string folder;
    int64_t bytes = 0;
    int64_t checkpoints = 0; ///< folders with a manifest
};

Result<Holding> holdingOf(const std::string& folder) {
    Holding holding{folder};
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
        std::error_code unread; // a file that goes meanwhile
        if (at->is_regular_file(unread) && !at->is_symlink(unread))
            if (const auto size = at->file_size(unread); !unread)
                holding.bytes += static_cast<int64_t>(size);
        holding.checkpoints += at->path().filename() == kManifestName ? 1 : 0;
    }
    if (error)
        return failErrno("read " + folder, error.value());
    return holding;
}

std::string answer(const Holding& holding) {
    const json what = {
        {"folder", holding.folder}, {"bytes", holding.bytes}, {"checkpoints", holding.checkpoints}};
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
    if (!std::filesystem::exists(*runDir, error))
        return answer(Holding{named});
    const Result<RunLock> lock = RunLock::take(*runDir);
    if (!lock)
        return failAs(attempt, lock.error());
    const Result<AgentState> state = loadAgentState(*runDir);
    if (!state && state.error().code != ErrorCode::kNotFound)
        return failAs(attempt, state.error());
    if (state && !state->living().empty())
        return fail(ErrorCode::kUnavailable, attempt + ": its ranks still run; stop it first");
    Result<Holding> holding = holdingOf(*runDir);
    if (!holding)
        return failAs(attempt, holding.error());
    // Out of the way first: who starts the run meanwhile begins with a folder of its own.
    if (!preview)
        std::filesystem::rename(*runDir, aside, error);
    if (!preview && !error)
        std::filesystem::remove_all(aside, error);
    if (error)
        return failErrno("remove " + *runDir, error.value());
    holding->folder = named;
    return answer(*holding);
}

} // namespace rm
