// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/start.h"

#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "shared/spec/run_spec.h"
#include "trainer/agent/peers/leader.h"
#include "trainer/agent/receive/bundle_check.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/slurm/job_file.h"
#include "trainer/agent/supervisor/lost_attempt.h"
#include "trainer/agent/supervisor/stop.h"
#include "trainer/agent/supervisor/submit.h"
#include "trainer/agent/supervisor/supervisor.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>

namespace rm {

namespace {

using nlohmann::json;

constexpr int64_t kLastThingsMs = 5000;

struct StartRequest {
    std::string specToml, planToml;
    RunSpec spec;
    NodePlan plan;
    std::optional<AgentState> adopted; ///< whose ranks run already
};

Result<StartRequest> parseStartRequest(const std::string& runId, const std::string& text) {
    StartRequest request;
    try {
        const json value = json::parse(text);
        request.specToml = value.at("spec").get<std::string>();
        request.planToml = value.at("plan").get<std::string>();
    } catch (const json::exception& error) {
        return fail(ErrorCode::kInvalid,
                    "start " + runId + ": stdin must be {\"spec\", \"plan\"}: " + error.what());
    }
    const Result<RunSpec> spec = parseRunSpec(request.specToml, "spec.toml");
    if (!spec)
        return failAs("start " + runId, spec.error());
    const Result<NodePlan> plan = parseNodePlan(request.planToml, "plan.toml");
    if (!plan)
        return failAs("start " + runId, plan.error());
    if (plan->runId != runId)
        return fail(ErrorCode::kInvalid,
                    "start " + runId + ": plan.toml is of the run " + plan->runId);
    request.spec = *spec;
    request.plan = *plan;
    return request;
}

Result<void> refuseLiving(const std::string& runId, const std::string& runDir) {
    const Result<AgentState> state = loadAgentState(runDir);
    if (!state)
        return state.error().code == ErrorCode::kNotFound ? Result<void>()
                                                          : tl::unexpected(state.error());
    const std::vector<AgentState::Rank> living = state->living();
    if (living.empty())
        return {};
    std::string names;
    for (const AgentState::Rank& rank : living)
        names += (names.empty() ? "" : ", ") + std::to_string(rank.rank) + " (process " +
                 std::to_string(rank.process.pid) + ")";
    return fail(ErrorCode::kUnavailable, "start " + runId + ": its agent is gone, but of attempt " +
                                             std::to_string(state->attempt) +
                                             " there still run ranks " + names +
                                             "; stop the run first");
}

// After its ranks have ended, a supervisor still holds the lock while it writes its last records. A
// resume waits for that.
Result<RunLock> takeLock(const std::string& runDir) {
    Result<RunLock> lock = RunLock::take(runDir);
    if (lock || lock.error().code != ErrorCode::kUnavailable)
        return lock;
    const Result<AgentState> state = loadAgentState(runDir);
    if (!state && state.error().code != ErrorCode::kNotFound)
        return tl::unexpected(state.error()); // who holds it, and for how long, cannot be known
    if (!state || !state->living().empty() ||
        !waitGone(openProcess(state->supervisor), kLastThingsMs))
        return lock;
    return RunLock::take(runDir);
}

Result<void> makeRunDir(const std::string& runDir, const StartRequest& request) {
    for (const char* folder : {"", "/journal", "/log", "/board"})
        if (const Result<void> made = makeFolders(runDir + folder); !made)
            return made;
    if (const Result<void> written = writeFileAtomically(runDir + "/spec.toml", request.specToml);
        !written)
        return written;
    return writeFileAtomically(runDir + "/plan.toml", request.planToml);
}

void redirectStdio() {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int log = ::open(kAgentLog, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(null, STDIN_FILENO);
    ::dup2(log >= 0 ? log : null, STDOUT_FILENO);
    ::dup2(log >= 0 ? log : null, STDERR_FILENO);
    ::close(null);
    ::close(log);
}

// If memory runs out, the kernel should kill ranks rather than the supervisor, which reports it.
void sparedByOutOfMemoryKiller() {
    const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
    if (file)
        (void)!::write(file.get(), "-500", 4);
}

std::string reportOf(const Result<void>& launched) {
    if (launched)
        return json{{"pid", ::getpid()}}.dump();
    return json{{"code", static_cast<int>(launched.error().code)},
                {"message", launched.error().message}}
        .dump();
}

// The detached process: launches the ranks, reports through the pipe, and lives as long as they do.
[[noreturn]] void supervise(const std::string& runDir, const StartRequest& request,
                            const RunLock& lock, Descriptor report) {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    redirectStdio();
    lock.writePid();
    int code = 0;
    {
        Supervisor supervisor(runDir, request.plan, request.spec);
        const Result<void> launched =
            request.adopted ? supervisor.adopt(*request.adopted) : supervisor.launch();
        if (launched)
            sparedByOutOfMemoryKiller();
        (void)writeText(report.get(), reportOf(launched), "report");
        report = Descriptor();
        if (launched)
            supervisor.run();
        code = launched ? 0 : 1;
    }
    ::_exit(code);
}

Result<std::string> awaitReport(const std::string& runId, const std::string& runDir, int fd) {
    RM_ASSIGN_OR_RETURN(const std::string text,
                        readToEnd(fd, 64 * 1024, "the supervisor's report"));
    const json report = json::parse(text, nullptr, false);
    if (report.contains("pid"))
        return json{{"run_dir", runDir}, {"pid", report.at("pid")}}.dump() + "\n";
    if (report.contains("message"))
        return fail(static_cast<ErrorCode>(report.at("code").get<int>()),
                    "start " + runId + ": " + report.at("message").get<std::string>());
    return fail(ErrorCode::kInternal,
                "start " + runId + ": the supervisor died; see " + runDir + "/log/agent.log");
}

// Forks twice, so that the supervisor is neither a session leader nor our child.
Result<std::string> detach(const std::string& runId, const std::string& runDir,
                           const StartRequest& request, const RunLock& lock) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return failErrno("start " + runId, errno);
    Descriptor readEnd(ends[0]), writeEnd(ends[1]);
    const pid_t child = ::fork();
    if (child < 0)
        return failErrno("start " + runId, errno);
    if (child == 0) {
        ::setsid();
        if (::fork() != 0)
            ::_exit(0);
        readEnd = Descriptor();
        supervise(runDir, request, lock, std::move(writeEnd));
    }
    writeEnd = Descriptor();
    ::waitpid(child, nullptr, 0);
    return awaitReport(runId, runDir, readEnd.get());
}

/// Whether the run's other nodes may still wait for this one: its ranks wrote on their boards, or
/// its agent its state, within the leader's patience.
bool wasAliveLately(const std::string& runDir) {
    std::error_code error;
    // The clock's epoch is in the future.
    auto last = std::filesystem::file_time_type::min();
    const auto look = [&](const std::filesystem::path& path) {
        const auto written = std::filesystem::last_write_time(path, error);
        last = error ? last : std::max(last, written);
    };
    look(runDir + "/agent.json");
    for (std::filesystem::directory_iterator at(runDir + "/board", error), end; !error && at != end;
         at.increment(error))
        look(at->path());
    return last > std::filesystem::file_time_type::clock::now() -
                      std::chrono::nanoseconds(Leader::kPatienceNs);
}

} // namespace

Result<std::string> startRun(const Folders& folders, const std::string& runId,
                             const std::string& text) {
    RM_RETURN_IF_ERROR(folders.runDir(runId));
    RM_ASSIGN_OR_RETURN(const StartRequest request, parseStartRequest(runId, text));
    const Result<std::string> runDir = folders.partDir(runId, request.plan.nodeIndex);
    if (!runDir)
        return runDir;
    if (const Result<void> whole = verifyBundle(folders.home, request.plan.bundle); !whole)
        return failAs("start " + runId, whole.error());
    RM_RETURN_IF_ERROR(makeFolders(*runDir));
    if (const Result<void> ended = endEarlierAttempts(folders, runId, request.plan.attempt); !ended)
        return failAs("start " + runId, ended.error());
    const Result<RunLock> lock = takeLock(*runDir);
    if (!lock)
        return failAs("start " + runId, lock.error());
    RM_RETURN_IF_ERROR(refuseLiving(runId, *runDir));
    if (const Result<void> closed = closeLostAttempt(*runDir); !closed)
        return failAs("start " + runId, closed.error());
    if (const Result<void> made = makeRunDir(*runDir, request); !made)
        return failAs("start " + runId, made.error());
    if (::chdir(runDir->c_str()) != 0)
        return failErrno("enter " + *runDir, errno);
    return detach(runId, *runDir, request, *lock);
}

/// Without a job the lock comes first, so that no other agent changes the state that decides. A run
/// that may go on gets a supervisor even without living ranks: other nodes may still wait for this.
Result<std::string> adoptRun(const Folders& folders, const std::string& runId, int64_t nodeIndex) {
    const std::string attempt = "adopt " + runId;
    RM_ASSIGN_OR_RETURN(const std::string runDir, folders.existingPartDir(runId, nodeIndex));
    RM_ASSIGN_OR_RETURN(const auto job, loadJobFile(runFolderOf(runDir)));
    if (job) {
        const Result<bool> closed = closeAfterJob(runDir);
        if (!closed)
            return failAs(attempt, closed.error());
        return json{{"run_dir", runDir}}.dump() + "\n";
    }
    const Result<RunLock> lock = RunLock::take(runDir);
    if (!lock)
        return failAs(attempt, lock.error());
    const Result<AgentState> state = loadAgentState(runDir);
    if (!state)
        return failAs(attempt, state.error());
    if (state->isElsewhere())
        return fail(ErrorCode::kUnavailable,
                    attempt + ": it is of another machine that shares this home");
    RM_ASSIGN_OR_RETURN(const NodePlan plan, loadPlan(runDir));
    RM_ASSIGN_OR_RETURN(const RunSpec spec, loadRunSpec(runDir + "/spec.toml"));
    const bool mayGoOn = !state->ended && spec.launch.maxRestarts > 0 && wasAliveLately(runDir);
    if (state->living().empty() && !mayGoOn) {
        if (const Result<void> closed = closeLostAttempt(runDir); !closed)
            return failAs(attempt, closed.error());
        return json{{"run_dir", runDir}}.dump() + "\n";
    }
    StartRequest request;
    request.plan = plan;
    request.spec = spec;
    request.adopted = *state;
    if (::chdir(runDir.c_str()) != 0)
        return failErrno("enter " + runDir, errno);
    return detach(runId, runDir, request, *lock);
}

} // namespace rm
