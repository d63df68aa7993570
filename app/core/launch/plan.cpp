// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/plan.h"

#include "app/core/deploy/deploy.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/launch/job_place.h"
#include "app/core/node/chosen_gpus.h"
#include "app/core/settings/user_name.h"
#include "shared/counted.h"
#include "shared/io/random_hex.h"
#include "shared/return_if_error.h"

#include <QSysInfo>

#include <algorithm>
#include <numeric>
#include <optional>

namespace rm {

namespace {

constexpr int kMaxRanksPerCore = 4;
constexpr size_t kMaxSlug = 48;
constexpr size_t kNonceDigits = 32;
constexpr size_t kKeyDigits = 64;

/// The ranks that were asked for there; 0: nobody said how many.
int requestedRanks(const RunSpec& spec, const PlacedNode& placed) {
    return placed.ranks ? placed.ranks : static_cast<int>(spec.launch.ranks);
}

Result<int> countRanksOf(const RunSpec& spec, const PlacedNode& placed, const std::string& device) {
    const int gpus = static_cast<int>(placed.report.gpus.size());
    int ranks = requestedRanks(spec, placed);
    if (ranks == 0)
        ranks = device == "cuda" ? gpus : 1;
    const Value node{"node", placed.node.name}, these{"ranks", counted(ranks, "rank")};
    if (ranks < 1)
        return fail(ErrorCode::kInvalid, say("launch.no-rank", {these, node}));
    if (device == "cuda" && ranks > gpus)
        return fail(ErrorCode::kInvalid, say("launch.more-ranks-than-gpus",
                                             {these, node, {"gpus", counted(gpus, "GPU")}}));
    const int most = kMaxRanksPerCore * std::max(1, placed.report.cores);
    if (device == "cpu" && ranks > most)
        return fail(ErrorCode::kInvalid, say("launch.too-many-ranks-for-cores",
                                             {these,
                                              node,
                                              {"cores", std::to_string(placed.report.cores)},
                                              {"most", std::to_string(most)}}));
    return ranks;
}

std::string slug(const std::string& name) {
    std::string out;
    for (const char c : name) {
        const bool lower = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        const bool upper = c >= 'A' && c <= 'Z';
        if (lower || upper)
            out += static_cast<char>(upper ? c - 'A' + 'a' : c);
        else if (!out.empty() && out.back() != '-')
            out += '-';
    }
    out.resize(std::min(out.size(), kMaxSlug));
    while (!out.empty() && out.back() == '-')
        out.pop_back();
    return out.empty() ? "run" : out;
}

std::string nameOf(const std::string& entry) {
    return entry.substr(0, entry.find('='));
}

/// Adds the variables to `all`. Each name is then there once, with its last value.
void setAll(std::vector<std::string>& all, const std::vector<std::string>& variables) {
    for (const std::string& variable : variables) {
        std::erase_if(all, [&](const auto& old) { return nameOf(old) == nameOf(variable); });
        all.push_back(variable);
    }
}

/// The environment of the ranks there.
std::vector<std::string> environmentOn(const PlacedNode& placed, const RunSpec& spec,
                                       const std::string& device) {
    std::vector<std::string> all;
    if (device == "cuda")
        all = visibleGpus(placed.node, placed.report);
    setAll(all, ownVariables(placed, spec));
    return all;
}

/// "cuda12 does not run on NODE, as its driver ..."; empty: it runs on all.
std::string obstacleOnAny(const Runtime& runtime, const std::vector<PlacedNode>& nodes) {
    for (const PlacedNode& placed : nodes)
        if (const std::string obstacle = obstacleTo(runtime, placed.report); !obstacle.empty())
            return say("launch.runtime-does-not-run",
                       {{"runtime", runtime.name}, {"node", placed.node.name}, {"why", obstacle}});
    return {};
}

/// The refusal where no runtime runs on all nodes, or the one of launch.runtime does not.
tl::unexpected<Error> noRuntime(const std::vector<PlacedNode>& nodes,
                                const std::string& obstacles) {
    std::vector<std::string> settings = {"\"auto\""};
    for (const Runtime& runtime : gpuRuntimes())
        if (obstacleOnAny(runtime, nodes).empty())
            settings.push_back('"' + runtime.name + '"');
    const Value why{"why", obstacles};
    return fail(ErrorCode::kInvalid,
                settings.size() == 1
                    ? say("launch.no-runtime", {why})
                    : say("launch.other-runtime", {why, {"settings", orListed(settings)}}));
}

/// The GPUs that some runtime serves, or would with another driver, if the others were left out.
std::vector<GpuReport> gpusThatCould(const NodeReport& report) {
    std::vector<GpuReport> some;
    for (const GpuReport& gpu : report.gpus) {
        NodeReport one = report;
        one.gpus = {gpu};
        if (whyNoRuntime(one).empty() || driverToInstall(one) > 0)
            some.push_back(gpu);
    }
    return some;
}

Target onCpus(const std::vector<PlacedNode>& nodes, const std::string& why,
              const std::string& fix) {
    std::string which;
    for (const PlacedNode& placed : nodes)
        if (const auto gpus = gpusThatCould(placed.report); !gpus.empty())
            append(which,
                   say("launch.of-node", {{"node", placed.node.name}, {"what", gpuWords(gpus)}}));
    return {"cpu", "cpu", which.empty() ? IdleGpus() : IdleGpus{which, why, fix}};
}

/// What lets GPUs train where this node has none that can: its own fix, or leaving it out.
std::string fixOf(const PlacedNode& without, bool isAlone) {
    const std::string own = fixOfGpus(without.node, without.report, without.gpuPlaces);
    if (isAlone)
        return own;
    const Value node{"node", without.node.name};
    return own.empty() ? say("launch.leave-out", {node})
                       : say("launch.or-leave-out", {{"fix", own}, node});
}

/// Why not every rank has a GPU of its own; empty: each has.
std::string tooFewGpus(const RunSpec& spec, const std::vector<PlacedNode>& nodes) {
    for (const PlacedNode& placed : nodes) {
        const auto gpus = static_cast<int64_t>(placed.report.gpus.size());
        if (const int64_t ranks = requestedRanks(spec, placed); ranks > gpus)
            return say("launch.too-few-gpus", {{"node", placed.node.name},
                                               {"gpus", counted(gpus, "GPU")},
                                               {"ranks", counted(ranks, "rank")}});
    }
    return {};
}

} // namespace

PlacedNode placeNode(const Node& node, const NodeReport& whole, int ranks,
                     const std::optional<SlurmPartition>& partition) {
    return {node, usedPart(node, whole), ranks, usedGpus(node, whole), partition};
}

Result<void> checkPrecision(const RunSpec& spec, const std::vector<PlacedNode>& nodes) {
    for (const PlacedNode& placed : nodes)
        if (const auto why = obstacleToPrecision(spec.train.precision, placed.report); !why.empty())
            return fail(ErrorCode::kInvalid,
                        say("launch.refused-on", {{"node", placed.node.name}, {"why", why}}));
    return {};
}

Result<void> checkClusterIsAlone(const std::vector<Node>& nodes) {
    const auto cluster = std::ranges::find_if(nodes, &Node::isSlurm);
    if (cluster == nodes.end() || nodes.size() == 1)
        return {};
    return fail(ErrorCode::kInvalid, say("launch.beside-cluster", {{"node", cluster->name}}));
}

Result<Target> chooseTarget(const RunSpec& spec, const std::vector<PlacedNode>& nodes,
                            const std::function<bool(const Runtime&)>& isHere) {
    const auto without = std::ranges::find_if(
        nodes, [](const PlacedNode& n) { return !whyNoRuntime(n.report).empty(); });
    if (spec.launch.device == "cpu")
        return Target{"cpu", "cpu"};
    if (spec.launch.device == "auto" && without != nodes.end())
        return onCpus(nodes,
                      say("launch.no-gpu-that-trains",
                          {{"node", without->node.name}, {"why", whyNoRuntime(without->report)}}),
                      fixOf(*without, nodes.size() == 1));
    if (without != nodes.end())
        return fail(ErrorCode::kInvalid,
                    say("launch.no-gpu-for-cuda",
                        {{"node", without->node.name}, {"why", whyNoRuntime(without->report)}}));
    std::optional<Runtime> chosen;
    std::string obstacles;
    for (const Runtime& runtime : gpuRuntimes()) {
        if (spec.launch.runtime != "auto" && spec.launch.runtime != runtime.name)
            continue;
        const std::string obstacle = obstacleOnAny(runtime, nodes);
        if (!obstacle.empty())
            append(obstacles, obstacle);
        else if (!chosen || (!isHere(*chosen) && isHere(runtime)))
            chosen = runtime;
    }
    const bool isAuto = spec.launch.device == "auto";
    if (const std::string why = tooFewGpus(spec, nodes); isAuto && chosen && !why.empty())
        return onCpus(nodes, why, say("launch.fewer-ranks"));
    if (isAuto && spec.launch.runtime == "auto" && chosen && !isHere(*chosen))
        return onCpus(nodes, say("launch.lacks-runtime", {{"runtime", chosen->name}}),
                      runtimeFix(chosen->name));
    if (!chosen)
        return noRuntime(nodes, obstacles);
    return Target{"cuda", chosen->name};
}

Result<std::vector<int>> countRanks(const RunSpec& spec, const std::vector<PlacedNode>& nodes,
                                    const std::string& device) {
    std::vector<int> ranks;
    for (const PlacedNode& placed : nodes) {
        RM_ASSIGN_OR_RETURN(const auto count, countRanksOf(spec, placed, device));
        ranks.push_back(count);
    }
    return ranks;
}

Beginning Beginning::of(const PlanRequest& attempt, bool readsData) {
    return {!attempt.startFrom.empty(), attempt.stepsBefore, readsData};
}

Beginning Beginning::of(const RunSpec& spec) {
    return {spec.checkpoint.onExisting == "resume"};
}

Result<PlacedRanks> placeRanks(const RunSpec& spec, const std::vector<PlacedNode>& nodes,
                               const Beginning& beginning,
                               const std::function<bool(const Runtime&)>& isHere) {
    std::vector<Node> requested;
    std::vector<PlacedNode> each = nodes; // of a cluster one node, for which it stands
    for (PlacedNode& placed : each) {
        requested.push_back(placed.node);
        if (placed.node.isSlurm)
            placed.ranks = 0;
    }
    RM_RETURN_IF_ERROR(checkClusterIsAlone(requested));
    const bool isJob = !nodes.empty() && nodes.front().node.isSlurm;
    if (isJob && !nodes.front().partition)
        return fail(ErrorCode::kNotFound,
                    say("launch.no-partition-reported", {{"node", requested.front().name}}));
    PlacedRanks ranks;
    RM_ASSIGN_OR_RETURN(ranks.target, chooseTarget(spec, each, isHere));
    const std::string& device = ranks.target.device;
    if (!beginning.resumes && device == "cuda")
        RM_RETURN_IF_ERROR(checkPrecision(spec, each));
    RM_ASSIGN_OR_RETURN(ranks.byPart, isJob ? ranksInJob(spec, each.front(), nodes.front().ranks,
                                                         device, *nodes.front().partition)
                                            : countRanks(spec, each, device));
    const int64_t all = std::accumulate(ranks.byPart.begin(), ranks.byPart.end(), int64_t{0});
    if (beginning.readsData)
        RM_RETURN_IF_ERROR(checkStepCut(spec, all, beginning.steps));
    if (!beginning.resumes || spec.train.globalBatch > 0)
        RM_RETURN_IF_ERROR(checkMinNodes(spec, ranks.byPart));
    return ranks;
}

std::vector<NodePlan> makePlans(const RunSpec& spec, const std::vector<PlacedNode>& nodes,
                                const std::vector<int>& ranks, const std::string& device,
                                const Rendezvous& rendezvous,
                                const std::vector<std::string>& bundles,
                                const PlanRequest& request) {
    int64_t worldSize = 0;
    for (const int count : ranks)
        worldSize += count;
    const std::string nonce = randomHex(kNonceDigits);
    const std::string key = nodes.size() > 1 ? randomHex(kKeyDigits) : std::string();
    std::vector<std::string> names;
    for (const PlacedNode& placed : nodes)
        names.push_back(placed.node.name);
    const std::string startedBy = userName() + '@' + QSysInfo::machineHostName().toStdString();
    std::vector<NodePlan> plans;
    int64_t firstRank = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
        NodePlan plan;
        plan.runId = request.runId;
        plan.runName = request.runName;
        plan.attempt = request.attempt;
        plan.nodeIndex = static_cast<int64_t>(i);
        plan.nodeCount = static_cast<int64_t>(nodes.size());
        plan.firstRank = firstRank;
        plan.localRanks = ranks[i];
        plan.worldSize = worldSize;
        plan.masterAddr = rendezvous.masterAddr;
        plan.masterPort = rendezvous.masterPort;
        if (i < rendezvous.addresses.size()) {
            plan.interface = rendezvous.addresses[i].name;
            plan.address = rendezvous.addresses[i].address;
        }
        plan.device = device;
        plan.bundle = bundles[i];
        plan.startFrom = request.startFrom;
        plan.startFromIsExact = request.startFromIsExact;
        plan.environment = environmentOn(nodes[i], spec, device);
        plan.storeNonce = nonce;
        plan.nodeNames = names;
        plan.startedBy = startedBy;
        plan.agentPort = nodes.size() > 1 ? rendezvous.agentPort : 0;
        plan.agentKey = key;
        plans.push_back(std::move(plan));
        firstRank += ranks[i];
    }
    return plans;
}

std::vector<std::string> ownVariables(const PlacedNode& placed, const RunSpec& spec) {
    std::vector<std::string> all;
    setAll(all, placed.node.environment);
    setAll(all, spec.launch.environment);
    return all;
}

namespace {

/// The staged paths, each as it was named: in a folder of pictures, folders are the classes.
std::vector<std::string> stagedPaths(const std::vector<std::string>& paths,
                                     const std::string& folder) {
    std::vector<std::string> there = stagedNames(paths);
    for (std::string& name : there)
        name.insert(0, folder);
    return there;
}

} // namespace

RunSpec specForNode(RunSpec spec, const std::string& runId, const std::string& stagedData) {
    if (!stagedData.empty()) {
        spec.data.train = stagedPaths(spec.data.train, stagedData + "/train/");
        spec.data.validation = stagedPaths(spec.data.validation, stagedData + "/validation/");
        if (!spec.data.tokenizerFile.empty())
            spec.data.tokenizerFile = stagedData + "/tokenizer";
        if (!spec.model.startFrom.empty())
            spec.model.startFrom = stagedData + "/start_from";
        spec.data.stage = false;
    }
    if (!spec.checkpoint.directory.empty())
        spec.checkpoint.directory += "/" + runId;
    return spec;
}

std::string newRunId(const std::string& runName) {
    return slug(runName) + "-" + randomHex(6);
}

} // namespace rm
