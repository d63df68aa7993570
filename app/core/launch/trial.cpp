// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/trial.h"

#include "app/core/findings/text.h"
#include "app/core/launch/direct_launcher.h"
#include "app/core/launch/link_test.h"
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <span>

namespace rm {

namespace {

using namespace std::chrono_literals;

/// Enough for a self-test of eight GPUs one after the other, most of it to load libraries.
constexpr std::chrono::milliseconds kTrialPatience = 5min;

Result<void> checkTrial(const NodeTrial& trial, const std::vector<PlacedParty>& parties) {
    for (const PlacedParty& party : parties)
        if (party.node.isSlurm)
            return failAs(
                trialName(trial.kind),
                {ErrorCode::kInvalid, say("launch.trial-of-cluster", {{"node", party.node.name}})});
    const size_t least = trial.kind == TrialKind::kAllReduce ? 2 : 1;
    const bool hasFew = trial.nodes.size() < least;
    if (!hasFew && (trial.kind == TrialKind::kAllReduce || trial.nodes.size() == 1))
        return {};
    return failAs(trialName(trial.kind),
                  {ErrorCode::kInvalid,
                   say(least == 2 ? "launch.trial-of-several-nodes" : "launch.trial-of-one-node",
                       {{"given", std::to_string(trial.nodes.size())}})});
}

/// The spec that is placed on the nodes. Neither data nor how many samples a step has counts.
Result<RunSpec> specOf(const NodeTrial& trial) {
    RunSpec spec;
    if (!trial.spec.empty()) {
        RM_ASSIGN_OR_RETURN(spec, parseRunSpec(trial.spec, "the spec"));
    }
    if (trial.kind == TrialKind::kAllReduce) {
        RunSpec links;
        links.launch = spec.launch;
        spec = std::move(links);
    }
    if (trial.kind != TrialKind::kStepProfile)
        spec.name = trialName(trial.kind);
    spec.train.globalBatch = spec.launch.minNodes = 0;
    return spec;
}

Result<std::string> onlyAnswer(DirectLauncher& launcher,
                               const std::function<TrainerCall(const NodePlan&)>& callOf) {
    const auto results = launcher.runTrainer(callOf, kTrialPatience);
    return results.map([](const std::vector<std::string>& answers) { return answers.front(); });
}

TrainerCall selfTestCall(const NodePlan&) {
    return {{"self-test", "--json"}, {}};
}

/// The call of the step profile on its first node, the only one.
TrainerCall stepProfileCall(const DirectLauncher& launcher, const NodePlan& plan) {
    return {{"step-profile", "-", "--device", plan.device, "--local-ranks",
             std::to_string(plan.localRanks)},
            launcher.specOn(0)};
}

/// The link's own rate at the interface by which a node takes part; -1: unknown.
int64_t nominalMbit(const PlacedNode& node, const std::string& interface) {
    int64_t best = -1;
    for (const InterfaceReport& each : node.report.interfaces)
        if (each.name == interface)
            best = std::max(best, each.speedMbit);
    return best;
}

Result<std::string> testLinks(DirectLauncher& launcher) {
    std::vector<NodePlan> plans;
    const auto results = launcher.runTrainer(
        [&plans](const NodePlan& plan) {
            plans.push_back(plan);
            return TrainerCall{{"all-reduce"}, toToml(plan)};
        },
        kTrialPatience);
    if (!results)
        return tl::unexpected(results.error());
    LinkTest test;
    test.wallNs = wallNowNs();
    for (size_t i = 0; i < launcher.nodes().size(); ++i) {
        const PlacedNode& node = launcher.nodes()[i];
        test.nodes.push_back({node.node.name, plans[i].interface,
                              nominalMbit(node, plans[i].interface), plans[i].localRanks});
    }
    RM_ASSIGN_OR_RETURN(test.report, parseAllReduceReport(results->front(), "the all-reduce test"));
    return toJson(test);
}

} // namespace

NodeTrial stepProfileTrial(const RunSpec& spec, const std::vector<Placement>& nodes) {
    return {TrialKind::kStepProfile, {nodes.front()}, toToml(spec)};
}

NodeTrial linkTrial(const RunSpec& spec, const std::vector<Placement>& nodes) {
    return {TrialKind::kAllReduce, nodes, toToml(spec)};
}

const char* trialName(TrialKind kind) {
    switch (kind) {
    case TrialKind::kSelfTest:
        return "self-test";
    case TrialKind::kAllReduce:
        return "all-reduce test";
    case TrialKind::kStepProfile:
        break;
    }
    return "step profile";
}

QString trialId(const NodeTrial& trial) {
    QString id = QString("trial: %1 ").arg(trialName(trial.kind));
    for (const Placement& placement : trial.nodes)
        id += QString("%1:%2 ").arg(placement.node).arg(placement.ranks);
    return id + QString::fromStdString(sha256Hex(std::as_bytes(std::span(trial.spec))));
}

Result<std::string> runTrial(const NodeTrial& trial, std::vector<PlacedParty> parties,
                             HostPool& hosts, const ProgressSink& progress, std::stop_token stop) {
    RM_RETURN_IF_ERROR(checkTrial(trial, parties));
    RM_ASSIGN_OR_RETURN(const auto spec, specOf(trial));
    PlanRequest attempt;
    attempt.runId = newRunId(spec.name);
    attempt.runName = spec.name;
    DirectLauncher launcher({spec, std::move(parties), attempt, false,
                             say("launch.the-trial", {{"trial", trialName(trial.kind)}})},
                            hosts, progress, std::move(stop));
    RM_RETURN_IF_ERROR(launcher.check().map([](const auto&) {}));
    RM_RETURN_IF_ERROR(launcher.deploy());
    switch (trial.kind) {
    case TrialKind::kSelfTest:
        return onlyAnswer(launcher, selfTestCall);
    case TrialKind::kAllReduce:
        return testLinks(launcher);
    case TrialKind::kStepProfile:
        break;
    }
    return onlyAnswer(
        launcher, [&launcher](const NodePlan& plan) { return stepProfileCall(launcher, plan); });
}

} // namespace rm
