// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/prune/needs.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "shared/spec/node_plan.h"
#include "trainer/agent/posix/open_paths.h"
#include "trainer/agent/posix/process.h"
#include "trainer/agent/run_dir/run_dir.h"

#include <cerrno>
#include <filesystem>

namespace rm {

namespace {

namespace fs = std::filesystem;

/// A run's folder has a plan, and may have one for each of the nodes that share it.
constexpr int kDeepestPlan = 2;
constexpr size_t kMaxText = 4u << 20;

} // namespace

/// The attempt whose plan lies in `folder`, with its agent's state beside it.
Result<void> Needs::readAttempt(const std::string& folder, Run& run) {
    RM_ASSIGN_OR_RETURN(const std::string plan, readFile(folder + "/plan.toml", kMaxText));
    const Result<AgentState> state = loadAgentState(folder);
    if (!state && state.error().code != ErrorCode::kNotFound)
        return tl::unexpected(state.error());
    const Result<NodePlan> parsed = parseNodePlan(plan, folder);
    // Else a later attempt is about to start.
    const bool isOfPlan = state && parsed && parsed->attempt == state->attempt;
    const bool isFinished = isOfPlan && state->ended && state->outcome == Outcome::kFinished;
    if (!isFinished)
        run.bundles += plan;
    // Another boot may be another machine with the same home, whose processes are not seen here.
    run.mayRunElsewhere =
        run.mayRunElsewhere || (state && !state->ended && state->boot != bootId());
    return {};
}

/// The texts are searched for the names of folders, which are SHA-256 sums, instead of parsed: a
/// later release may name them elsewhere.
Result<Needs::Run> Needs::readRun(const std::string& folder) {
    Run run{fs::path(folder).filename(), {}, {}, false};
    std::error_code error;
    fs::recursive_directory_iterator at(folder, error), end;
    for (; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename();
        if (at.depth() >= kDeepestPlan)
            at.disable_recursion_pending();
        if (name == "plan.toml")
            RM_RETURN_IF_ERROR(readAttempt(at->path().parent_path(), run));
        if (name != "plan.toml" && name != "spec.toml")
            continue;
        RM_ASSIGN_OR_RETURN(const std::string text, readFile(at->path(), kMaxText));
        run.data += text;
    }
    if (error)
        return failErrno("read " + folder, error.value());
    return run;
}

Result<Needs> Needs::read(const Folders& folders) {
    Needs needs;
    std::error_code error;
    needs.m_home = fs::weakly_canonical(folders.home, error);
    needs.m_open = openPathsBelow(needs.m_home);
    const std::string runs = folders.stateDir + "/runs";
    if (!fs::exists(runs, error) && !error)
        return needs;
    for (fs::directory_iterator at(runs, error), end; !error && at != end; at.increment(error)) {
        if (!at->is_directory(error))
            continue;
        RM_ASSIGN_OR_RETURN(Run run, readRun(at->path()));
        needs.m_runs.push_back(std::move(run));
    }
    if (error)
        return failErrno("read " + runs, error.value());
    return needs;
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

std::string Needs::whyNeeded(const std::string& kind, const std::string& name) const {
    const std::string folder = m_home + "/" + kind + "/" + name + "/";
    if (const auto open = m_open.lower_bound(folder);
        open != m_open.end() && open->starts_with(folder))
        return "a process uses it";
    for (const Run& run : m_runs) {
        const std::string& text = kind == "bundles" ? run.bundles : run.data;
        if (kind == "agents" ? run.mayRunElsewhere : text.find(name) != std::string::npos)
            return kind == "agents" ? "run " + run.id + " may go on on another machine"
                                    : "run " + run.id;
    }
    return {};
}

} // namespace rm
