// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/node_outlook.h"

#include "app/core/agent/agent_client.h"
#include "app/core/deploy/deploy.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/launch/job_place.h"
#include "app/core/node/chosen_gpus.h"
#include "shared/return_if_error.h"
#include "shared/spec/schema.h"

#include <algorithm>

namespace rm {

namespace {

std::vector<std::string> dataPaths(const RunSpec& spec) {
    std::vector<std::string> paths = spec.data.train;
    paths.insert(paths.end(), spec.data.validation.begin(), spec.data.validation.end());
    for (const std::string* path : {&spec.data.tokenizerFile, &spec.model.startFrom})
        if (!path->empty())
            paths.push_back(*path);
    return paths;
}

std::string keyOf(const RunSpec& spec, const std::string& path) {
    if (std::ranges::find(spec.data.train, path) != spec.data.train.end())
        return "data.train";
    if (path == spec.data.tokenizerFile)
        return "data.tokenizer_file";
    return path == spec.model.startFrom ? "model.start_from" : "data.validation";
}

LaunchProblem problemOf(const RunSpec& spec, const UnreadablePath& path) {
    return {say("gpu.launch-unreadable",
                {{"key", keyOf(spec, path.path)}, {"path", path.path}, {"why", path.why}})};
}

/// Why the data that is sent from here cannot be sent.
std::vector<LaunchProblem> stagingProblems(const RunSpec& spec) {
    const auto tree = dataTree(dataPaths(spec));
    return tree ? std::vector<LaunchProblem>() : std::vector{LaunchProblem{tree.error().message}};
}

/// Why a run of `spec` may not begin in a folder in which `runs` have checkpoints; nullopt: it may.
std::optional<LaunchProblem> ownedByOther(const RunSpec& spec, const std::vector<SavedRun>& runs) {
    const bool goesOn = spec.checkpoint.onExisting == "resume";
    const bool hasOwn = std::ranges::count(runs, spec.name, &SavedRun::runName) > 0;
    if (runs.empty() || (goesOn && hasOwn))
        return std::nullopt;
    const SavedRun& owner =
        hasOwn ? *std::ranges::find(runs, spec.name, &SavedRun::runName) : runs.front();
    const bool hasId = !owner.runId.empty();
    const Value folder{"folder", spec.checkpoint.directory},
        step{"step", std::to_string(owner.step)}, name{"name", owner.runName},
        its{"owner", hasId ? say("gpu.launch-run-of-id", {name, {"id", owner.runId}})
                           : say("gpu.launch-run", {name})};
    if (goesOn)
        return LaunchProblem{
            say("gpu.launch-folder-without-run", {folder, its, step, {"run", spec.name}}),
            say(hasId ? "gpu.launch-fix-other-folder-or-resume" : "gpu.launch-fix-other-folder")};
    return LaunchProblem{say("gpu.launch-folder-taken", {folder, its, step}),
                         say(hasId ? "gpu.launch-fix-folder-or-resume" : "gpu.launch-fix-folder")};
}

Result<std::vector<LaunchProblem>> folderProblems(HostSession& session, const std::string& agent,
                                                  const RunSpec& spec, std::stop_token stop) {
    const RunSpec::Checkpoint& rule = spec.checkpoint;
    if (rule.directory.empty() || rule.onExisting == "separate")
        return std::vector<LaunchProblem>();
    RM_ASSIGN_OR_RETURN(const auto runs, savedRunsOnNode(session, agent, rule.directory, spec.name,
                                                         std::move(stop)));
    const auto problem = ownedByOther(spec, runs);
    return problem ? std::vector{*problem} : std::vector<LaunchProblem>();
}

Result<int64_t> bytesToSend(HostSession& session, const std::string& agent, const RunSpec& spec,
                            const PlacedNode& placed, std::stop_token stop) {
    const auto bytesOf = [&](const Result<LocalTree>& tree) {
        return tree ? missingBytes(session, agent, *tree, stop)
                    : tl::unexpected<Error>(tree.error());
    };
    const auto target = chooseTarget(spec, {placed});
    const auto trainer = bytesOf(trainerBundle(target ? target->runtime : "cpu"));
    if (!trainer || !spec.data.stage)
        return trainer;
    return bytesOf(dataTree(dataPaths(spec))).map([&](int64_t data) { return *trainer + data; });
}

/// The error with the advice of the node's check, where the node's shell may not execute the agent
/// (as on a disk that is mounted noexec).
Error withAgentAdvice(Error error) {
    if (error.code == ErrorCode::kDenied)
        append(error.message, adviceFor(error.code, AgentFault::kNotRun));
    return error;
}

/// The error as one of Slurm itself: its controller is down, say, and the launch is not wrong.
Error withSlurmAdvice(const Error& error, const Node& cluster) {
    return {error.code, say("gpu.launch-slurm-unanswered",
                            {{"cluster", cluster.name}, {"error", error.message}})};
}

} // namespace

std::string problemWords(const LaunchProblem& problem) {
    return problem.fix.empty() ? problem.what : joined({problem.what, problem.fix});
}

RunSpec specToLookFor(RunSpec spec, bool isFirstNode) {
    if (!isFirstNode && !spec.data.stage)
        spec.data.tokenizerFile = spec.model.startFrom = {};
    if (!isFirstNode)
        spec.checkpoint.directory = {};
    if (!usesField(spec, "data.tokenizer_file"))
        spec.data.tokenizerFile = {};
    return spec;
}

/// Gathers problems, so that a person sees all of them at once; an error is only what ends the talk
/// with the node. A cluster is judged by what its job will find, not by its login node.
Result<NodeOutlook> lookAtNode(HostSession& session, const std::string& agent, const Node& node,
                               const RunSpec& spec, std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(auto report, probeNode(session, agent, stop).map_error(&withAgentAdvice));
    RM_ASSIGN_OR_RETURN(auto problems, folderProblems(session, agent, spec, stop));
    std::optional<SlurmPartition> partition;
    if (node.isSlurm) {
        const auto slurm = slurmOnNode(session, agent, stop);
        if (!slurm && slurm.error().code == ErrorCode::kUnavailable)
            return tl::unexpected(withSlurmAdvice(slurm.error(), node));
        auto found = slurm.and_then(
            [&](const SlurmReport& there) { return partitionOfJob(node, spec, there); });
        if (found) {
            report = reportInJob(std::move(report), *found, sbatchOptions(node, spec));
            partition = std::move(*found);
        } else {
            problems.push_back({found.error().message});
        }
    }
    if (std::string missing = missingGpus(node, report); !missing.empty())
        problems.push_back({std::move(missing), fixOfMissingGpus(node, report)});
    if (spec.data.stage)
        std::ranges::move(stagingProblems(spec), std::back_inserter(problems));
    else {
        RM_ASSIGN_OR_RETURN(const auto unreadable,
                            unreadablePaths(session, agent, dataPaths(spec), stop));
        for (const UnreadablePath& path : unreadable)
            problems.push_back(problemOf(spec, path));
    }
    return NodeOutlook{std::move(report), std::move(problems), 0, std::move(partition)};
}

Result<NodeOutlook> lookAtWhole(HostSession& session, const std::string& agent, const Node& node,
                                const RunSpec& spec, std::stop_token stop) {
    auto outlook = lookAtNode(session, agent, node, spec, stop);
    if (!outlook || !outlook->problems.empty())
        return outlook;
    RM_ASSIGN_OR_RETURN(const auto bytes, bytesToSend(session, agent, spec,
                                                      placeNode(node, outlook->report, 0), stop));
    outlook->bytesToSend = bytes;
    return outlook;
}

} // namespace rm
