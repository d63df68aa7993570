// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/prune/needs.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "shared/spec/node_plan.h"
#include "trainer/agent/posix/open_paths.h"
#include "trainer/agent/posix/process.h"
#include "trainer/agent/posix/walk.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/supervisor/submit.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

namespace rm {

namespace {

namespace fs = std::filesystem;

/// A run's folder has a plan, and may have one for each of the nodes that share it.
constexpr int kDeepestPlan = 2;
constexpr size_t kMaxText = 4u << 20;

/// nullopt: the run is being removed.
Result<std::optional<std::string>> readIfThere(const std::string& path) {
    auto text = readFile(path, kMaxText);
    if (text)
        return std::move(*text);
    return text.error().code == ErrorCode::kNotFound ? Result<std::optional<std::string>>()
                                                     : tl::unexpected(text.error());
}

} // namespace

/// The attempt whose plan lies in `folder`, with its agent's state beside it.
Result<void> Needs::readAttempt(const std::string& folder, Run& run) {
    RM_ASSIGN_OR_RETURN(const auto plan, readIfThere(folder + "/plan.toml"));
    if (!plan)
        return {};
    const Result<AgentState> state = loadAgentState(folder);
    if (!state && state.error().code != ErrorCode::kNotFound)
        return tl::unexpected(state.error());
    const Result<NodePlan> parsed = parseNodePlan(*plan, folder);
    // Else a later attempt is about to start.
    const bool isOfPlan = state && parsed && parsed->attempt == state->attempt;
    const bool isFinished = isOfPlan && state->ended && state->outcome == Outcome::kFinished;
    if (!isFinished)
        run.bundles += *plan;
    std::error_code error;
    if (state && state->boot == bootId() && isAlive(state->supervisor))
        run.agents.insert(
            fs::read_symlink("/proc/" + std::to_string(state->supervisor.pid) + "/exe", error));
    // Another boot may be another machine with the same home, whose processes are not seen here.
    run.mayRunElsewhere =
        run.mayRunElsewhere || (state && !state->ended && state->boot != bootId());
    return {};
}

/// The texts are searched for the names of folders, which are SHA-256 sums, instead of parsed: a
/// later release may name them elsewhere.
Result<Needs::Run> Needs::readRun(const std::string& folder) {
    Run run;
    run.id = fs::path(folder).filename();
    run.folder = folder;
    RM_ASSIGN_OR_RETURN(const auto script, readIfThere(folder + "/job.sh"));
    run.jobScript = script.value_or("");
    const auto readOne = [&](const std::string& path, const struct stat&) -> Result<bool> {
        const std::string name = fs::path(path).filename();
        const auto depth = std::count(path.begin() + std::ssize(folder) + 1, path.end(), '/');
        if (name == "plan.toml")
            RM_RETURN_IF_ERROR(readAttempt(fs::path(path).parent_path(), run));
        if (name == "plan.toml" || name == "spec.toml") {
            RM_ASSIGN_OR_RETURN(const auto text, readIfThere(path));
            run.data += text.value_or("");
        }
        return depth < kDeepestPlan;
    };
    return walk(folder, readOne).map([&] { return std::move(run); });
}

Result<Needs> Needs::read(const Folders& folders) {
    Needs needs;
    std::error_code error;
    needs.m_home = fs::weakly_canonical(folders.home, error);
    needs.m_open = openPathsBelow(needs.m_home);
    const auto readOne = [&](const std::string& path, const struct stat&) -> Result<bool> {
        struct stat info = {}; // of what a link leads to
        if (::stat(path.c_str(), &info) != 0 && errno != ENOENT)
            return failErrno("read " + path, errno);
        // No run has such a name, and nobody may read a lost+found.
        if (!S_ISDIR(info.st_mode) || !isValidRunId(fs::path(path).filename().string()))
            return false;
        RM_ASSIGN_OR_RETURN(Run run, readRun(path));
        needs.m_runs.push_back(std::move(run));
        return false;
    };
    return walk(folders.stateDir + "/runs", readOne).map([&] { return std::move(needs); });
}

std::string Needs::whyInUse(const std::string& kind, const std::string& name) const {
    const std::string folder = m_home + "/" + kind + "/" + name + "/";
    // An agent that runs needs its file no more.
    if (const auto open = m_open.lower_bound(folder);
        kind != "agents" && open != m_open.end() && open->starts_with(folder))
        return "a process uses it";
    for (const Run& run : m_runs)
        if (run.mayRunElsewhere)
            return "run " + run.id + " may go on on another machine";
    return {};
}

std::string Needs::whyAgentNeeded(const std::string& name) const {
    const std::string folder = m_home + "/agents/" + name + "/";
    for (const Run& run : m_runs) {
        const auto agent = run.agents.lower_bound(folder);
        const bool livesByIt = agent != run.agents.end() && agent->starts_with(folder);
        // Slurm is asked only about a script that names it; while it does not answer, the job may
        // wait.
        if (livesByIt || (run.jobScript.find(name) != std::string::npos &&
                          isJobAlive(run.folder).value_or(true)))
            return "run " + run.id + " lives by it";
    }
    for (const Run& run : m_runs)
        if (run.mayRunElsewhere)
            return "run " + run.id + " may go on on another machine";
    return {};
}

std::string Needs::whyNeeded(const std::string& kind, const std::string& name) const {
    if (kind == "agents")
        if (std::string why = whyAgentNeeded(name); !why.empty())
            return why;
    const std::string folder = m_home + "/" + kind + "/" + name + "/";
    if (const auto open = m_open.lower_bound(folder);
        open != m_open.end() && open->starts_with(folder))
        return "a process uses it";
    for (const Run& run : m_runs) {
        const std::string& text = kind == "bundles" ? run.bundles : run.data;
        if (kind != "agents" && text.find(name) != std::string::npos)
            return "run " + run.id;
    }
    return {};
}

} // namespace rm
