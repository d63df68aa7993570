// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/living_runs.h"

#include "trainer/agent/run_dir/run_dir.h"

#include <algorithm>
#include <filesystem>

namespace rm {

namespace {

void addPart(RunReport& run, const std::string& part) {
    const Result<AgentState> state = loadAgentState(part);
    if (!state || !isAliveIn(part, *state))
        return;
    if (const Result<NodePlan> plan = loadPlan(part))
        run.runName = plan->runName;
    run.attempt = std::max(run.attempt, static_cast<int>(state->attempt));
    run.ranks += static_cast<int>(state->living().size());
    run.isSupervised = run.isSupervised || RunLock::isHeld(part);
}

} // namespace

std::vector<RunReport> livingRuns(const Folders& folders) {
    std::vector<RunReport> found;
    std::error_code error;
    std::filesystem::directory_iterator at(folders.stateDir + "/runs", error), end;
    for (; !error && at != end; at.increment(error)) {
        RunReport run;
        run.runId = at->path().filename().string();
        if (const auto parts = folders.partDirs(run.runId))
            for (const std::string& part : *parts)
                addPart(run, part);
        if (run.ranks > 0 || run.isSupervised)
            found.push_back(std::move(run));
    }
    std::ranges::sort(found, {}, &RunReport::runId);
    return found;
}

} // namespace rm
