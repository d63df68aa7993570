// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/slurm_launcher.h"

#include "app/core/agent/agent_client.h"
#include "app/core/findings/text.h"
#include "app/core/launch/job_place.h"
#include "app/core/launch/memory_estimate.h"
#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"

#include <algorithm>

namespace rm {

Result<std::vector<Placement>> SlurmLauncher::check() {
    std::vector<Node> nodes;
    for (const PlacedParty& each : m_request.nodes)
        nodes.push_back(each.node);
    RM_RETURN_IF_ERROR(checkClusterIsAlone(nodes));
    RM_RETURN_IF_ERROR(checkAndPlace());
    // Only for the path to the agent, which the job's script names.
    RM_ASSIGN_OR_RETURN(const auto agents,
                        onEveryNode<std::string>(m_stop, [](size_t) -> Task<std::string> {
                            return [](HostSession&, const std::string& agent, std::stop_token) {
                                return Result<std::string>(agent);
                            };
                        }));
    m_order.agent = agents.front();
    m_order.options = sbatchOptions(cluster(), m_request.spec);
    orderJob(*m_nodes.front().partition);
    std::vector<Placement> parts;
    for (const int count : m_ranks)
        parts.push_back({QString::fromStdString(cluster().name), count});
    return parts;
}

void SlurmLauncher::orderJob(const SlurmPartition& partition) {
    const bool onGpus = m_target.device == "cuda";
    m_order.setup = m_request.spec.launch.jobSetup;
    m_order.step = m_request.spec.launch.srun;
    m_order.runId = m_request.attempt.runId;
    m_order.ranks = m_ranks;
    m_order.onGpus = onGpus;
    m_order.runtime = m_target.runtime;
    if (onGpus && m_nodes.front().report.gpus.front().computeCapability > 0)
        m_order.gpu = m_nodes.front().report.gpus.front().name;
    m_order.cpusPerNode = partition.cpusPerNode;
    m_order.gpusPerNode = partition.gpusPerNode;
    // 1 is what Slurm takes for the memory of nodes of which nobody has told it.
    m_order.memoryMb = partition.memoryMb > 1 ? partition.memoryMb : 0;
}

std::string SlurmLauncher::whatIsTooLarge() {
    const int64_t there = bytesOnNode(m_order);
    const int most = *std::ranges::max_element(m_ranks);
    const double bound = static_cast<double>(memoryBound(m_request.spec)) * most;
    if (m_target.device != "cpu" || there <= 0 || bound <= static_cast<double>(there) || !deploy())
        return {};
    report(say("launch.estimate-memory"));
    const NodePlan plan = plans().front();
    const auto estimates = onEveryNode<NodeMemory>(m_stop, [&](size_t node) -> Task<NodeMemory> {
        return [spec = specOn(node), &plan](HostSession& session, const std::string& agent,
                                            std::stop_token stop) {
            // A failed estimate never prevents a launch.
            return estimateOnNode(session, agent, spec, plan, stop).value_or(NodeMemory());
        };
    });
    NodeMemory estimate = estimates ? estimates->front() : NodeMemory();
    estimate.free = there / most;
    if (estimate.needed <= estimate.free)
        return {};
    estimate.advice = say(most > 1 ? "launch.fewer-ranks-or-more-memory" : "launch.more-memory");
    return tooLargeText(m_request.attempt.runName, cluster().name, plan, estimate);
}

/// The plans of the parts. Where the ranks meet is not known before the job has its nodes.
std::vector<NodePlan> SlurmLauncher::plans() const {
    const std::vector<PlacedNode> nodes(m_ranks.size(), m_nodes.front());
    const std::vector<std::string> bundles(m_ranks.size(), m_bundles.front());
    auto plans = makePlans(m_request.spec, nodes, m_ranks, m_target.device, Rendezvous(), bundles,
                           m_request.attempt);
    for (NodePlan& plan : plans)
        plan.runtime = m_order.onGpus ? m_target.runtime : std::string();
    return plans;
}

/// Where the ranks meet is found by the agents in the job, as its nodes are not known before.
Result<void> SlurmLauncher::start() {
    if (const auto continues = checkStop(); !continues)
        return continues;
    report(say("launch.hand-in-job"));
    const auto plans = this->plans();
    m_mayHaveLeftRanks = true;
    const auto submitted = onEveryNode<bool>(m_stop, [&](size_t node) -> Task<bool> {
        return [this, spec = specOn(node), &plans, closing = m_workers[node]->closing()](
                   HostSession& session, const std::string& agent, std::stop_token) {
            return submitOnNode(session, agent, spec, plans, batchScript(), closing)
                .map([](const std::string&) { return true; });
        };
    });
    if (submitted)
        return {};
    abandon();
    return tl::unexpected(submitted.error());
}

} // namespace rm
